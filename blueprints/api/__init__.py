"""What both APIs share: the strict reading of JSON, the gate, declared operations and their OpenAPI documents."""
