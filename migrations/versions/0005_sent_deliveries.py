"""deliveries in the order in which they were sent"""

import sqlalchemy as sa
from alembic import op


revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SENT = sa.text("last_sent_at IS NOT NULL")


def upgrade():
    columns = ["subscription_id", "last_sent_at", "id"]
    op.create_index("ix_delivery_sent", "delivery", columns, sqlite_where=SENT, postgresql_where=SENT)


def downgrade():
    op.drop_index("ix_delivery_sent", "delivery")
