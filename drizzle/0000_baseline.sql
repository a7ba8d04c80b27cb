CREATE TABLE "approvals" (
	"tenant_id" text NOT NULL,
	"approval_id" uuid NOT NULL,
	"decision_id" uuid NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"votes_from_version" integer DEFAULT 1 NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"agent" text NOT NULL,
	"owner" text,
	"edits" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"context" jsonb NOT NULL,
	"original_action" text NOT NULL,
	"original_action_hash" text NOT NULL,
	"canonical_action" text NOT NULL,
	"action_hash" text NOT NULL,
	"resolved_tool" text NOT NULL,
	"resolved_action" text NOT NULL,
	"tool_facts_hash" text NOT NULL,
	"reason" text NOT NULL,
	"determining_policies" text[] NOT NULL,
	"policy_revision" text NOT NULL,
	"policy_revisions" text[] NOT NULL,
	"required_votes" integer NOT NULL,
	"required_groups" text[] NOT NULL,
	"required_signature" text NOT NULL,
	"self_approval" text[] NOT NULL,
	"max_scope" text NOT NULL,
	"decided_by" text,
	"decision_reason" text,
	"void_reason" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"decided_at" timestamp (3) with time zone,
	"voided_at" timestamp (3) with time zone,
	"consumed_at" timestamp (3) with time zone,
	"consumer_token_hash" text,
	"outcome" jsonb,
	CONSTRAINT "approvals_tenant_id_approval_id_pk" PRIMARY KEY("tenant_id","approval_id"),
	CONSTRAINT "approvals_status_known" CHECK ("approvals"."status" in ('pending', 'approved', 'rejected', 'cancelled', 'voided', 'consumed')),
	CONSTRAINT "approvals_version" CHECK ("approvals"."version" >= "approvals"."votes_from_version" and "approvals"."votes_from_version" >= 1),
	CONSTRAINT "approvals_votes" CHECK ("approvals"."required_votes" between 1 and 10),
	CONSTRAINT "approvals_decided" CHECK (case "approvals"."status" when 'pending' then "approvals"."decided_at" is null and "approvals"."decided_by" is null
          when 'voided' then ("approvals"."decided_at" is null) = ("approvals"."decided_by" is null)
          else "approvals"."decided_at" is not null and "approvals"."decided_by" is not null end),
	CONSTRAINT "approvals_expires" CHECK ("approvals"."expires_at" > "approvals"."created_at"),
	CONSTRAINT "approvals_voided" CHECK (("approvals"."status" = 'voided') = ("approvals"."voided_at" is not null) and ("approvals"."voided_at" is null) = ("approvals"."void_reason" is null)),
	CONSTRAINT "approvals_consumed_at" CHECK (("approvals"."status" = 'consumed') = ("approvals"."consumed_at" is not null)),
	CONSTRAINT "approvals_consumed_in_time" CHECK ("approvals"."consumed_at" is null or "approvals"."consumed_at" <= "approvals"."expires_at"),
	CONSTRAINT "approvals_token" CHECK ("approvals"."consumer_token_hash" is null or "approvals"."status" = 'consumed'),
	CONSTRAINT "approvals_outcome" CHECK ("approvals"."outcome" is null or "approvals"."status" = 'consumed')
);
--> statement-breakpoint
CREATE TABLE "decisions" (
	"tenant_id" text NOT NULL,
	"decision_id" uuid NOT NULL,
	"agent" text NOT NULL,
	"key_id" uuid NOT NULL,
	"decision" text NOT NULL,
	"reason" text NOT NULL,
	"determining_policies" text[] NOT NULL,
	"policy_revision" text NOT NULL,
	"canonical_action" text NOT NULL,
	"action_hash" text NOT NULL,
	"resolved_tool" text NOT NULL,
	"resolved_action" text NOT NULL,
	"context" jsonb NOT NULL,
	"denial" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "decisions_tenant_id_decision_id_pk" PRIMARY KEY("tenant_id","decision_id"),
	CONSTRAINT "decisions_decision" CHECK ("decisions"."decision" in ('allow', 'deny', 'require_approval')),
	CONSTRAINT "decisions_denial" CHECK ("decisions"."denial" is null or "decisions"."decision" = 'deny')
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"tenant_id" text NOT NULL,
	"principal" text NOT NULL,
	"route" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"standing" text NOT NULL,
	"lease_id" uuid NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL,
	"answer" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_tenant_id_principal_route_key_pk" PRIMARY KEY("tenant_id","principal","route","key")
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"key_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"tenant_id" text NOT NULL,
	"principal" text NOT NULL,
	"roles" text[] NOT NULL,
	"origin" text NOT NULL,
	"created_by" text,
	"source_trust_ceiling" text NOT NULL,
	"environments" text[],
	"workspaces" text[],
	"unattended" boolean NOT NULL,
	"workspace_root" text,
	"skill" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"frozen_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"revoke_reason" text,
	CONSTRAINT "keys_roles" CHECK (cardinality("keys"."roles") > 0),
	CONSTRAINT "keys_revoke_reason" CHECK ("keys"."revoke_reason" is null or "keys"."revoked_at" is not null)
);
--> statement-breakpoint
CREATE TABLE "principals" (
	"tenant_id" text NOT NULL,
	"principal" text NOT NULL,
	"groups" text[] DEFAULT '{}' NOT NULL,
	"owner" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "principals_tenant_id_principal_pk" PRIMARY KEY("tenant_id","principal")
);
--> statement-breakpoint
CREATE TABLE "rate_limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"expire" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"tenant_id" text PRIMARY KEY NOT NULL,
	"active_revision" text NOT NULL,
	"activated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "votes" (
	"tenant_id" text NOT NULL,
	"approval_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"approver" text NOT NULL,
	"key_id" uuid NOT NULL,
	"groups" text[] NOT NULL,
	"decision" text NOT NULL,
	"scope" text NOT NULL,
	"reason" text,
	"at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"dropped_at" timestamp (3) with time zone,
	CONSTRAINT "votes_tenant_id_approval_id_version_approver_pk" PRIMARY KEY("tenant_id","approval_id","version","approver"),
	CONSTRAINT "votes_decision" CHECK ("votes"."decision" in ('approve', 'reject'))
);
--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_tenant_id_decision_id_decisions_tenant_id_decision_id_fk" FOREIGN KEY ("tenant_id","decision_id") REFERENCES "public"."decisions"("tenant_id","decision_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_tenant_id_principal_principals_tenant_id_principal_fk" FOREIGN KEY ("tenant_id","principal") REFERENCES "public"."principals"("tenant_id","principal") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "principals" ADD CONSTRAINT "principals_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "votes" ADD CONSTRAINT "votes_tenant_id_approval_id_approvals_tenant_id_approval_id_fk" FOREIGN KEY ("tenant_id","approval_id") REFERENCES "public"."approvals"("tenant_id","approval_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "approvals_status" ON "approvals" USING btree ("tenant_id","status","approval_id");--> statement-breakpoint
CREATE INDEX "approvals_agent" ON "approvals" USING btree ("tenant_id","agent","created_at");--> statement-breakpoint
CREATE INDEX "approvals_consumed" ON "approvals" USING btree ("tenant_id","agent","action_hash","consumed_at") WHERE status = 'consumed';--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("tenant_id","expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "keys_token_hash" ON "keys" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "keys_tenant_principal" ON "keys" USING btree ("tenant_id","principal");--> statement-breakpoint
CREATE INDEX "votes_key" ON "votes" USING btree ("tenant_id","key_id");