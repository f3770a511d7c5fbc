"""where a redirect would have led, with the attempt"""

import sqlalchemy as sa
from alembic import op


revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade():
    op.add_column("delivery_attempt", sa.Column("location", sa.Text(), nullable=True))


def downgrade():
    op.drop_column("delivery_attempt", "location")
