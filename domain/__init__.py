"""What is true and what is allowed. Each room imports only what stands to its left:
events, messages, accounts, authoring, campaigns, responses, outreach, bundle. No request, no commit."""
