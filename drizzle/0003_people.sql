CREATE TABLE "approval_events" (
	"tenant_id" text NOT NULL,
	"xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"seq" bigint GENERATED ALWAYS AS IDENTITY (sequence name "approval_events_seq_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"approval_id" uuid NOT NULL,
	"agent" text NOT NULL,
	"type" text NOT NULL,
	"version" integer NOT NULL,
	"status" text NOT NULL,
	"action_hash" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "approval_events_tenant_id_xid_seq_pk" PRIMARY KEY("tenant_id","xid","seq")
);
--> statement-breakpoint
CREATE TABLE "approval_views" (
	"tenant_id" text NOT NULL,
	"approval_id" uuid NOT NULL,
	"principal" text NOT NULL,
	"shown_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "approval_views_tenant_id_approval_id_principal_pk" PRIMARY KEY("tenant_id","approval_id","principal")
);
--> statement-breakpoint
CREATE TABLE "event_cursors" (
	"tenant_id" text NOT NULL,
	"subscriber" text NOT NULL,
	"xid" "xid8" NOT NULL,
	"seq" bigint NOT NULL,
	"lease_holder" text,
	"lease_until" timestamp (3) with time zone,
	CONSTRAINT "event_cursors_tenant_id_subscriber_pk" PRIMARY KEY("tenant_id","subscriber")
);
--> statement-breakpoint
CREATE TABLE "slack_messages" (
	"tenant_id" text NOT NULL,
	"approval_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"ts" text NOT NULL,
	"shown_digest" text NOT NULL,
	"posted_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "slack_messages_tenant_id_approval_id_pk" PRIMARY KEY("tenant_id","approval_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"tenant_id" text NOT NULL,
	"delivery_id" uuid NOT NULL,
	"webhook_id" uuid NOT NULL,
	"type" text NOT NULL,
	"payload" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"round" integer DEFAULT 0 NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_status" integer,
	"last_error" text,
	"next_attempt_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "webhook_deliveries_tenant_id_delivery_id_pk" PRIMARY KEY("tenant_id","delivery_id"),
	CONSTRAINT "webhook_deliveries_status" CHECK ("webhook_deliveries"."status" in ('pending', 'delivered', 'dead')),
	CONSTRAINT "webhook_deliveries_finished" CHECK (("webhook_deliveries"."status" = 'pending') = ("webhook_deliveries"."finished_at" is null))
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"tenant_id" text NOT NULL,
	"webhook_id" uuid NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"secret" text NOT NULL,
	"former_secret" text,
	"former_secret_until" timestamp (3) with time zone,
	"cursor_xid" "xid8" NOT NULL,
	"cursor_seq" bigint NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "webhooks_tenant_id_webhook_id_pk" PRIMARY KEY("tenant_id","webhook_id"),
	CONSTRAINT "webhooks_former" CHECK (("webhooks"."former_secret" is null) = ("webhooks"."former_secret_until" is null))
);
--> statement-breakpoint
CREATE TABLE "console_sessions" (
	"session_hash" text PRIMARY KEY NOT NULL,
	"key_id" uuid NOT NULL,
	"origin" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "console_sessions_origin" CHECK ("console_sessions"."origin" in ('key', 'oidc'))
);
--> statement-breakpoint
CREATE TABLE "enrolment_codes" (
	"tenant_id" text NOT NULL,
	"code_hash" text NOT NULL,
	"principal" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	CONSTRAINT "enrolment_codes_tenant_id_code_hash_pk" PRIMARY KEY("tenant_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "oidc_logins" (
	"state_hash" text PRIMARY KEY NOT NULL,
	"nonce" text NOT NULL,
	"code_verifier" text NOT NULL,
	"return_to" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"tenant_id" text NOT NULL,
	"credential_id" text NOT NULL,
	"principal" text NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"transports" text[] NOT NULL,
	"is_backed_up" boolean NOT NULL,
	"label" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"removed_at" timestamp (3) with time zone,
	CONSTRAINT "passkeys_tenant_id_credential_id_pk" PRIMARY KEY("tenant_id","credential_id")
);
--> statement-breakpoint
CREATE TABLE "webauthn_challenges" (
	"tenant_id" text NOT NULL,
	"challenge" text NOT NULL,
	"principal" text NOT NULL,
	"purpose" text NOT NULL,
	"approval_id" uuid,
	"statement" text,
	"code_hash" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	CONSTRAINT "webauthn_challenges_tenant_id_challenge_pk" PRIMARY KEY("tenant_id","challenge"),
	CONSTRAINT "webauthn_challenges_statement" CHECK (("webauthn_challenges"."purpose" = 'vote') = ("webauthn_challenges"."approval_id" is not null and "webauthn_challenges"."statement" is not null)),
	CONSTRAINT "webauthn_challenges_code" CHECK ("webauthn_challenges"."code_hash" is null or "webauthn_challenges"."purpose" = 'registration')
);
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "expiring_told_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "expired_told_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "votes" ADD COLUMN "shown_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "votes" ADD COLUMN "signature" jsonb;--> statement-breakpoint
ALTER TABLE "approval_views" ADD CONSTRAINT "approval_views_tenant_id_approval_id_approvals_tenant_id_approval_id_fk" FOREIGN KEY ("tenant_id","approval_id") REFERENCES "public"."approvals"("tenant_id","approval_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approval_views" ADD CONSTRAINT "approval_views_tenant_id_principal_principals_tenant_id_principal_fk" FOREIGN KEY ("tenant_id","principal") REFERENCES "public"."principals"("tenant_id","principal") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_cursors" ADD CONSTRAINT "event_cursors_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "slack_messages" ADD CONSTRAINT "slack_messages_tenant_id_approval_id_approvals_tenant_id_approval_id_fk" FOREIGN KEY ("tenant_id","approval_id") REFERENCES "public"."approvals"("tenant_id","approval_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_tenant_id_webhook_id_webhooks_tenant_id_webhook_id_fk" FOREIGN KEY ("tenant_id","webhook_id") REFERENCES "public"."webhooks"("tenant_id","webhook_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "enrolment_codes" ADD CONSTRAINT "enrolment_codes_tenant_id_principal_principals_tenant_id_principal_fk" FOREIGN KEY ("tenant_id","principal") REFERENCES "public"."principals"("tenant_id","principal") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_tenant_id_principal_principals_tenant_id_principal_fk" FOREIGN KEY ("tenant_id","principal") REFERENCES "public"."principals"("tenant_id","principal") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webauthn_challenges" ADD CONSTRAINT "webauthn_challenges_tenant_id_principal_principals_tenant_id_principal_fk" FOREIGN KEY ("tenant_id","principal") REFERENCES "public"."principals"("tenant_id","principal") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webauthn_challenges" ADD CONSTRAINT "webauthn_challenges_tenant_id_approval_id_approvals_tenant_id_approval_id_fk" FOREIGN KEY ("tenant_id","approval_id") REFERENCES "public"."approvals"("tenant_id","approval_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "approval_events_at" ON "approval_events" USING btree ("tenant_id","at");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_webhook" ON "webhook_deliveries" USING btree ("tenant_id","webhook_id","delivery_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("tenant_id","webhook_id","next_attempt_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_past" ON "webhook_deliveries" USING btree ("tenant_id","finished_at");--> statement-breakpoint
CREATE INDEX "console_sessions_key" ON "console_sessions" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "console_sessions_expiry" ON "console_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "oidc_logins_expiry" ON "oidc_logins" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "passkeys_principal" ON "passkeys" USING btree ("tenant_id","principal");--> statement-breakpoint
CREATE INDEX "webauthn_challenges_expiry" ON "webauthn_challenges" USING btree ("tenant_id","expires_at");--> statement-breakpoint
CREATE INDEX "approvals_untold" ON "approvals" USING btree ("tenant_id","expires_at") WHERE status in ('pending', 'approved') and expired_told_at is null;--> statement-breakpoint
UPDATE "approvals" SET "expiring_told_at" = clock_timestamp(), "expired_told_at" = clock_timestamp()
	WHERE "status" IN ('pending', 'approved') AND "expires_at" <= clock_timestamp();--> statement-breakpoint
CREATE FUNCTION "tell_approvals_asked"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO "approval_events" ("tenant_id", "approval_id", "agent", "type", "version", "status", "action_hash")
	SELECT n."tenant_id", n."approval_id", n."agent", 'approval.requested', n."version", n."status", n."action_hash"
	FROM "added" n ORDER BY n."approval_id";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "tell_approvals_changed"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO "approval_events" ("tenant_id", "approval_id", "agent", "type", "version", "status", "action_hash")
	SELECT n."tenant_id", n."approval_id", n."agent", told."type", n."version",
		CASE told."type" WHEN 'approval.expired' THEN 'expired' ELSE n."status" END, n."action_hash"
	FROM "changed" n
	JOIN "former" o ON o."tenant_id" = n."tenant_id" AND o."approval_id" = n."approval_id"
	CROSS JOIN LATERAL (VALUES
		(1, 'approval.edited', n."votes_from_version" > o."votes_from_version"),
		-- Votes that were dropped move the version alone.
		(2, 'approval.voted', n."version" > o."version" AND n."votes_from_version" = o."votes_from_version"),
		(3, CASE n."status" WHEN 'approved' THEN 'approval.decided' WHEN 'rejected' THEN 'approval.decided'
			ELSE 'approval.' || n."status" END, n."status" <> o."status"),
		(4, 'approval.expiring', n."expiring_told_at" IS NOT NULL AND o."expiring_told_at" IS NULL
			AND n."expired_told_at" IS NULL),
		(5, 'approval.expired', n."expired_told_at" IS NOT NULL AND o."expired_told_at" IS NULL)
	) AS told("rank", "type", "holds")
	WHERE told."holds" ORDER BY n."approval_id", told."rank";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION "tell_votes_cast"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO "approval_events" ("tenant_id", "approval_id", "agent", "type", "version", "status", "action_hash")
	SELECT a."tenant_id", a."approval_id", a."agent", 'approval.voted', a."version", a."status", a."action_hash"
	FROM "cast_votes" v JOIN "approvals" a ON a."tenant_id" = v."tenant_id" AND a."approval_id" = v."approval_id"
	WHERE v."dropped_at" IS NULL ORDER BY a."approval_id";
	RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER "approvals_asked" AFTER INSERT ON "approvals" REFERENCING NEW TABLE AS "added"
	FOR EACH STATEMENT EXECUTE FUNCTION "tell_approvals_asked"();--> statement-breakpoint
CREATE TRIGGER "approvals_changed" AFTER UPDATE ON "approvals" REFERENCING OLD TABLE AS "former" NEW TABLE AS "changed"
	FOR EACH STATEMENT EXECUTE FUNCTION "tell_approvals_changed"();--> statement-breakpoint
CREATE TRIGGER "votes_cast" AFTER INSERT ON "votes" REFERENCING NEW TABLE AS "cast_votes"
	FOR EACH STATEMENT EXECUTE FUNCTION "tell_votes_cast"();--> statement-breakpoint
CREATE TRIGGER "votes_cast_anew" AFTER UPDATE ON "votes" REFERENCING NEW TABLE AS "cast_votes"
	FOR EACH STATEMENT EXECUTE FUNCTION "tell_votes_cast"();
