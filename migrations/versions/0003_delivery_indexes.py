"""indexes of the delivery log, and of what is to be sent"""

import sqlalchemy as sa
from alembic import op


revision = '0003'
down_revision = '0002'
branch_labels = None
depends_on = None

QUEUED = "state = 'queued'"
FIRST_ATTEMPT = f"{QUEUED} AND lease_until = 0 AND attempts = 0"
RETRY = f"{QUEUED} AND lease_until = 0 AND attempts > 0"


def upgrade():
    op.create_index('ix_delivery_log', 'delivery', ['subscription_id', 'id', 'created_at'])
    op.create_index('ix_delivery_log_by_state', 'delivery', ['subscription_id', 'state', 'id', 'event', 'created_at'])
    op.create_index('ix_delivery_log_by_event', 'delivery', ['subscription_id', 'event', 'id', 'state', 'created_at'])
    _create_index_where('ix_delivery_queued', ['due_at'], QUEUED)
    _create_index_where('ix_delivery_first_attempts', ['subscription_id', 'due_at'], FIRST_ATTEMPT)
    _create_index_where('ix_delivery_retries', ['subscription_id', 'due_at'], RETRY)
    op.drop_index('ix_delivery_subscription_id_id', 'delivery')
    op.drop_index('ix_delivery_state_due_at', 'delivery')
    op.drop_index('ix_delivery_subscription_id_state_attempts_due_at', 'delivery')


def downgrade():
    op.create_index('ix_delivery_subscription_id_state_attempts_due_at', 'delivery',
                    ['subscription_id', 'state', 'attempts', 'due_at'])
    op.create_index('ix_delivery_state_due_at', 'delivery', ['state', 'due_at'])
    op.create_index('ix_delivery_subscription_id_id', 'delivery', ['subscription_id', 'id'])
    op.drop_index('ix_delivery_retries', 'delivery')
    op.drop_index('ix_delivery_first_attempts', 'delivery')
    op.drop_index('ix_delivery_queued', 'delivery')
    op.drop_index('ix_delivery_log_by_event', 'delivery')
    op.drop_index('ix_delivery_log_by_state', 'delivery')
    op.drop_index('ix_delivery_log', 'delivery')


def _create_index_where(name, columns, where):
    op.create_index(name, 'delivery', columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
