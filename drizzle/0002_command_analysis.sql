CREATE TABLE "exec_approvals" (
	"tenant_id" text NOT NULL,
	"node_id" text NOT NULL,
	"document" jsonb NOT NULL,
	"hash" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "exec_approvals_tenant_id_node_id_pk" PRIMARY KEY("tenant_id","node_id")
);
--> statement-breakpoint
CREATE TABLE "exec_entry_uses" (
	"tenant_id" text NOT NULL,
	"node_id" text NOT NULL,
	"entry_id" text NOT NULL,
	"used_at" timestamp (3) with time zone NOT NULL,
	"command" text NOT NULL,
	"resolved_path" text NOT NULL,
	CONSTRAINT "exec_entry_uses_tenant_id_node_id_entry_id_pk" PRIMARY KEY("tenant_id","node_id","entry_id")
);
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "review_facts" jsonb;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "review" jsonb;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "asker_connection" uuid;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "asker_lease_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tenants" ADD COLUMN "mask_key" text DEFAULT replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '') NOT NULL;--> statement-breakpoint
ALTER TABLE "votes" ADD COLUMN "view_hash" text;--> statement-breakpoint
ALTER TABLE "exec_approvals" ADD CONSTRAINT "exec_approvals_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "exec_entry_uses" ADD CONSTRAINT "exec_entry_uses_document" FOREIGN KEY ("tenant_id","node_id") REFERENCES "public"."exec_approvals"("tenant_id","node_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "approvals_waited_for" ON "approvals" USING btree ("tenant_id","expires_at") WHERE status = 'pending' and asker_connection is not null;--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_asker" CHECK (("approvals"."asker_connection" is null) = ("approvals"."asker_lease_until" is null));