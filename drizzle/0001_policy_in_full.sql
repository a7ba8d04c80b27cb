CREATE TABLE "agent_pauses" (
	"tenant_id" text NOT NULL,
	"agent" text NOT NULL,
	"paused_at" timestamp (3) with time zone,
	"resumed_at" timestamp (3) with time zone,
	CONSTRAINT "agent_pauses_tenant_id_agent_pk" PRIMARY KEY("tenant_id","agent")
);
--> statement-breakpoint
CREATE TABLE "denials" (
	"tenant_id" text NOT NULL,
	"denial_id" uuid NOT NULL,
	"agent" text NOT NULL,
	"digest" text NOT NULL,
	"session_id" text,
	"resolved_tool" text NOT NULL,
	"resolved_action" text NOT NULL,
	"action_hash" text NOT NULL,
	"approval_id" uuid NOT NULL,
	"denied_by" text NOT NULL,
	"reason" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"lifted_at" timestamp (3) with time zone,
	"lifted_by" text,
	CONSTRAINT "denials_tenant_id_denial_id_pk" PRIMARY KEY("tenant_id","denial_id")
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"tenant_id" text NOT NULL,
	"grant_id" uuid NOT NULL,
	"agent" text NOT NULL,
	"owner" text,
	"editors" text[] NOT NULL,
	"fingerprint" text NOT NULL,
	"session_id" text,
	"run_id" text,
	"workspace" text,
	"environment" text,
	"action_hash" text NOT NULL,
	"scope" text NOT NULL,
	"max_uses" integer,
	"uses" integer DEFAULT 0 NOT NULL,
	"policy_revision" text NOT NULL,
	"policy_revisions" text[] NOT NULL,
	"tool_facts_hash" text NOT NULL,
	"source_trust" text NOT NULL,
	"contains_sensitive_data" boolean NOT NULL,
	"granted_by" text NOT NULL,
	"approval_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	"revoked_by" text,
	CONSTRAINT "grants_tenant_id_grant_id_pk" PRIMARY KEY("tenant_id","grant_id"),
	CONSTRAINT "grants_scope" CHECK ("grants"."scope" in ('run', 'session', 'window')),
	CONSTRAINT "grants_uses" CHECK ("grants"."uses" >= 0 and ("grants"."max_uses" is null or "grants"."uses" <= "grants"."max_uses")),
	CONSTRAINT "grants_window" CHECK (("grants"."scope" = 'window') = ("grants"."max_uses" is not null)),
	CONSTRAINT "grants_life" CHECK ("grants"."expires_at" > "grants"."created_at" and "grants"."expires_at" <= "grants"."created_at" + interval '24 hours')
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"tenant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"agent" text NOT NULL,
	"source_trust_rank" integer NOT NULL,
	"contains_sensitive_data" boolean NOT NULL,
	"unattended" boolean NOT NULL,
	"tier_rank" integer NOT NULL,
	"has_parent" boolean NOT NULL,
	"seen_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "runs_tenant_id_run_id_agent_pk" PRIMARY KEY("tenant_id","run_id","agent")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"tenant_id" text NOT NULL,
	"agent" text NOT NULL,
	"session_id" text NOT NULL,
	"tier" text,
	"rejections" integer DEFAULT 0 NOT NULL,
	"paused_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "sessions_tenant_id_agent_session_id_pk" PRIMARY KEY("tenant_id","agent","session_id"),
	CONSTRAINT "sessions_tier" CHECK ("sessions"."tier" in ('ask', 'auto', 'full'))
);
--> statement-breakpoint
CREATE TABLE "activations" (
	"tenant_id" text NOT NULL,
	"activation_id" uuid NOT NULL,
	"revision" text NOT NULL,
	"replaced" text,
	"activated_by" text,
	"activated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "activations_tenant_id_activation_id_pk" PRIMARY KEY("tenant_id","activation_id")
);
--> statement-breakpoint
CREATE TABLE "base_rules" (
	"digest" text PRIMARY KEY NOT NULL,
	"rules" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"activated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "revisions" (
	"tenant_id" text NOT NULL,
	"revision" text NOT NULL,
	"base_digest" text NOT NULL,
	"policies" jsonb NOT NULL,
	"tools" jsonb NOT NULL,
	"permissions" jsonb NOT NULL,
	"note" text,
	"created_by" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "revisions_tenant_id_revision_pk" PRIMARY KEY("tenant_id","revision")
);
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "secret_parameters" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "decisions" ADD COLUMN "grant_id" uuid;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "disabled_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "principals" ADD COLUMN "risk_tier" text;--> statement-breakpoint
ALTER TABLE "principals" ADD COLUMN "slack_user" text;--> statement-breakpoint
ALTER TABLE "principals" ADD COLUMN "oidc_subject" text;--> statement-breakpoint
ALTER TABLE "principals" ADD COLUMN "disabled_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "principals" ADD COLUMN "frozen_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "activated_by" text;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "tier" text DEFAULT 'auto' NOT NULL;--> statement-breakpoint
ALTER TABLE "votes" ADD COLUMN "window_seconds" integer;--> statement-breakpoint
ALTER TABLE "votes" ADD COLUMN "max_uses" integer;--> statement-breakpoint
ALTER TABLE "agent_pauses" ADD CONSTRAINT "agent_pauses_tenant_id_agent_principals_tenant_id_principal_fk" FOREIGN KEY ("tenant_id","agent") REFERENCES "public"."principals"("tenant_id","principal") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "denials" ADD CONSTRAINT "denials_tenant_id_approval_id_approvals_tenant_id_approval_id_fk" FOREIGN KEY ("tenant_id","approval_id") REFERENCES "public"."approvals"("tenant_id","approval_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_tenant_id_approval_id_approvals_tenant_id_approval_id_fk" FOREIGN KEY ("tenant_id","approval_id") REFERENCES "public"."approvals"("tenant_id","approval_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_tenant_id_agent_principals_tenant_id_principal_fk" FOREIGN KEY ("tenant_id","agent") REFERENCES "public"."principals"("tenant_id","principal") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activations" ADD CONSTRAINT "activations_tenant_id_revision_revisions_tenant_id_revision_fk" FOREIGN KEY ("tenant_id","revision") REFERENCES "public"."revisions"("tenant_id","revision") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revisions" ADD CONSTRAINT "revisions_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "revisions" ADD CONSTRAINT "revisions_base_digest_base_rules_digest_fk" FOREIGN KEY ("base_digest") REFERENCES "public"."base_rules"("digest") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "denials_digest" ON "denials" USING btree ("tenant_id","agent","digest","created_at");--> statement-breakpoint
CREATE INDEX "denials_agent" ON "denials" USING btree ("tenant_id","agent","created_at");--> statement-breakpoint
CREATE INDEX "grants_fingerprint" ON "grants" USING btree ("tenant_id","fingerprint");--> statement-breakpoint
CREATE INDEX "grants_agent" ON "grants" USING btree ("tenant_id","agent","grant_id");--> statement-breakpoint
CREATE INDEX "runs_seen" ON "runs" USING btree ("tenant_id","seen_at");--> statement-breakpoint
CREATE INDEX "activations_revision" ON "activations" USING btree ("tenant_id","revision","activated_at");--> statement-breakpoint
CREATE UNIQUE INDEX "principals_slack_user" ON "principals" USING btree ("tenant_id","slack_user");--> statement-breakpoint
CREATE UNIQUE INDEX "principals_oidc_subject" ON "principals" USING btree ("tenant_id","oidc_subject");--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_grant" CHECK ("decisions"."grant_id" is null or "decisions"."decision" = 'allow');--> statement-breakpoint
ALTER TABLE "votes" ADD CONSTRAINT "votes_window" CHECK (("votes"."scope" = 'window') = ("votes"."window_seconds" is not null and "votes"."max_uses" is not null));--> statement-breakpoint
UPDATE "approvals" SET "context" = "context" || jsonb_build_object('tier', coalesce("context" ->> 'tier', 'auto'), 'workspace_root', null, 'now', to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));--> statement-breakpoint
UPDATE "decisions" SET "context" = "context" || jsonb_build_object('tier', coalesce("context" ->> 'tier', 'auto'), 'workspace_root', null, 'now', to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
