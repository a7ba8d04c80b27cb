import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../src/cli/config.ts';

const TOKEN = 'k'.repeat(32);

function messageOf(env: NodeJS.ProcessEnv): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as ConfigError;
    expect(message).not.toMatch(/[\n\r]/);
    return message;
  }
  throw new Error('the environment makes a configuration');
}

test('an empty environment makes the defaults of the contract', () => {
  expect(loadConfig({})).toEqual({
    host: '127.0.0.1',
    port: 8080,
    databaseUrl: undefined,
    databaseListenUrl: undefined,
    dataDir: '.aegis',
    policyDir: 'policies',
    policyDrift: 'revalidate',
    bootstrapOperatorKey: undefined,
    approvalTtlSeconds: 1800,
    approvalAttemptLimit: 5,
    approvalAttemptWindowSeconds: 3600,
    ipFailureLimitPerMinute: 60,
    pendingLimit: 50,
    askLimitPerHour: 500,
    denialSeconds: 1800,
    slackSigningSecret: undefined,
    slackTenant: 'default',
    trustedProxies: [],
    webhookAllow: [],
    metricsToken: undefined,
    publicUrl: undefined,
    oidc: undefined,
  });
});

test('every variable is read', () => {
  const config = loadConfig({
    HOST: '0.0.0.0',
    PORT: '0',
    DATABASE_URL: 'postgres://u:p@db:5432/aegis',
    DATABASE_LISTEN_URL: 'postgresql://u:p@db:5433/aegis',
    AEGIS_DATA_DIR: '/data',
    AEGIS_POLICY_DIR: '/policies',
    AEGIS_POLICY_DRIFT: 'strict',
    AEGIS_BOOTSTRAP_OPERATOR_KEY: TOKEN,
    AEGIS_APPROVAL_TTL_SECS: '86400',
    AEGIS_APPROVAL_ATTEMPT_LIMIT: '1',
    AEGIS_APPROVAL_ATTEMPT_WINDOW_SECS: '2',
    AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '3',
    AEGIS_PENDING_LIMIT: '4',
    AEGIS_ASK_LIMIT_PER_HOUR: '1000000',
    AEGIS_DENIAL_SECS: '6',
    AEGIS_SLACK_SIGNING_SECRET: 'slack',
    AEGIS_TRUST_PROXY: '10.0.0.0/8, fd00::/8',
    AEGIS_WEBHOOK_ALLOW: '10.1.0.0/16',
    AEGIS_METRICS_TOKEN: 'metrics',
    AEGIS_ALLOW_PLAIN_HTTP: '0',
    AEGIS_PUBLIC_URL: 'https://Aegis.example/',
    AEGIS_OIDC_ISSUER: 'https://login.example/realms/a',
    AEGIS_OIDC_CLIENT_ID: 'aegis',
    AEGIS_OIDC_CLIENT_SECRET: 'oidc',
    AEGIS_OIDC_TENANT: 'acme',
  });
  expect(config).toMatchObject({
    host: '0.0.0.0',
    port: 0,
    databaseUrl: 'postgres://u:p@db:5432/aegis',
    databaseListenUrl: 'postgresql://u:p@db:5433/aegis',
    dataDir: '/data',
    policyDir: '/policies',
    policyDrift: 'strict',
    bootstrapOperatorKey: TOKEN,
    approvalTtlSeconds: 86_400,
    approvalAttemptLimit: 1,
    approvalAttemptWindowSeconds: 2,
    ipFailureLimitPerMinute: 3,
    pendingLimit: 4,
    askLimitPerHour: 1_000_000,
    denialSeconds: 6,
    slackSigningSecret: 'slack',
    metricsToken: 'metrics',
    publicUrl: 'https://aegis.example',
    oidc: {
      issuer: 'https://login.example/realms/a',
      clientId: 'aegis',
      clientSecret: 'oidc',
      tenantId: 'acme',
    },
  });
  expect(config.webhookAllow.map(([address, bits]) => `${address}/${bits}`)).toEqual(['10.1.0.0/16']);
  expect(config.trustedProxies.map(([address, bits]) => `${address}/${bits}`)).toEqual([
    '10.0.0.0/8',
    'fd00::/8',
  ]);
});

test('a variable that is empty counts as unset', () => {
  const empty = { PORT: '', HOST: '', DATABASE_URL: '', AEGIS_TRUST_PROXY: '', AEGIS_POLICY_DRIFT: '' };
  expect(loadConfig(empty)).toEqual(loadConfig({}));
});

describe('a bad value stops with one line that names variable, fault and an example', () => {
  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', ' 80'],
    ['PORT', '0x50'],
    ['HOST', 'a b'],
    ['HOST', '[::1]'],
    ['HOST', '10.0.0.0/8'],
    ['AEGIS_APPROVAL_TTL_SECS', '0'],
    ['AEGIS_APPROVAL_TTL_SECS', '86401'],
    ['AEGIS_APPROVAL_TTL_SECS', '1.5'],
    ['AEGIS_APPROVAL_TTL_SECS', '1e3'],
    ['AEGIS_APPROVAL_TTL_SECS', '30m'],
    ['AEGIS_APPROVAL_ATTEMPT_LIMIT', '0'],
    ['AEGIS_APPROVAL_ATTEMPT_WINDOW_SECS', '0'],
    ['AEGIS_IP_FAILURE_LIMIT_PER_MINUTE', '1000001'],
    ['AEGIS_PENDING_LIMIT', 'none'],
    ['AEGIS_ASK_LIMIT_PER_HOUR', '007'],
    ['AEGIS_DENIAL_SECS', '-5'],
    ['AEGIS_POLICY_DRIFT', 'Strict'],
    ['AEGIS_ALLOW_PLAIN_HTTP', 'true'],
    ['AEGIS_TRUST_PROXY', '10.0.0.0/8,proxy'],
    ['AEGIS_TRUST_PROXY', '10.0.0.0/8,'],
    ['AEGIS_WEBHOOK_ALLOW', 'hooks.example.com'],
    ['AEGIS_DATA_DIR', 'a\nb'],
    ['AEGIS_PUBLIC_URL', 'aegis.example'],
    ['AEGIS_PUBLIC_URL', 'http://aegis.example'],
    ['AEGIS_PUBLIC_URL', 'https://aegis.example/console'],
    ['AEGIS_PUBLIC_URL', 'https://aegis.example/?a'],
    ['AEGIS_PUBLIC_URL', 'https://u:p@aegis.example'],
    ['AEGIS_PUBLIC_URL', 'javascript:alert(1)'],
    ['AEGIS_PUBLIC_URL', ' https://aegis.example'],
  ])('%s=%j', (name, value) => {
    const message = messageOf({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name} is \`.*\` but must be .+\\. For example: ${name}=\\S+$`));
  });

  test('a long value is cut', () => {
    expect(messageOf({ PORT: '9'.repeat(10_000) }).length).toBeLessThan(250);
  });
});

describe('a secret that is wrong is named, and not shown', () => {
  test.each([
    ['AEGIS_BOOTSTRAP_OPERATOR_KEY', 's3cret'],
    ['AEGIS_BOOTSTRAP_OPERATOR_KEY', `s3cret${'a'.repeat(251)}`],
    ['AEGIS_BOOTSTRAP_OPERATOR_KEY', `s3cret ${TOKEN}`],
    ['AEGIS_BOOTSTRAP_OPERATOR_KEY', `s3cret${TOKEN}\n`],
    ['AEGIS_METRICS_TOKEN', 's3cret "quoted"'],
    ['AEGIS_METRICS_TOKEN', 's3cret'.repeat(100)],
    ['AEGIS_SLACK_SIGNING_SECRET', 's3cret s3cret'],
    ['DATABASE_URL', 'mysql://u:s3cret@db/aegis'],
    ['DATABASE_URL', 'postgres://'],
    ['DATABASE_URL', 'postgres://u:s3cret@db/a b'],
    ['DATABASE_URL', 'host=db password=s3cret'],
    ['DATABASE_LISTEN_URL', 's3cret'],
  ])('%s=%j', (name, value) => {
    const message = messageOf({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name} must be .+\\. For example: ${name}=\\S+`));
    expect(message).not.toContain('s3cret');
  });

  test('an operator key of 32 to 256 token characters is taken as it is', () => {
    for (const key of [TOKEN, 'a'.repeat(256), `${'-._~+/A9'.repeat(4)}==`]) {
      expect(loadConfig({ AEGIS_BOOTSTRAP_OPERATOR_KEY: key }).bootstrapOperatorKey).toBe(key);
    }
  });
});

describe('sign-in with OpenID Connect', () => {
  const oidc = {
    AEGIS_OIDC_ISSUER: 'https://login.example',
    AEGIS_OIDC_CLIENT_ID: 'aegis',
    AEGIS_OIDC_CLIENT_SECRET: 's3cret',
  };

  test('needs issuer, client id and secret together', () => {
    for (const missing of Object.keys(oidc)) {
      const message = messageOf({ ...oidc, [missing]: '' });
      expect(message).toMatch(new RegExp(`^${missing} is not set, but .* needs .* together`));
      expect(message).not.toContain('s3cret');
    }
    expect(messageOf({ AEGIS_OIDC_TENANT: 'acme' })).toMatch(/^AEGIS_OIDC_ISSUER is not set/);
  });

  test('is of the first tenant unless another is named', () => {
    expect(loadConfig(oidc).oidc?.tenantId).toBe('default');
  });

  test.each([
    ['AEGIS_OIDC_ISSUER', 'http://login.example'],
    ['AEGIS_OIDC_ISSUER', 'login.example'],
    ['AEGIS_OIDC_ISSUER', 'https://login.example/?a=b'],
    ['AEGIS_OIDC_CLIENT_ID', 'a b'],
    ['AEGIS_OIDC_TENANT', 'A'],
  ])('takes no %s=%j', (name, value) => {
    expect(messageOf({ ...oidc, AEGIS_ALLOW_PLAIN_HTTP: '1', [name]: value })).toMatch(
      new RegExp(`^${name} is \`.*\` but must be .+\\. For example: ${name}=\\S+$`),
    );
  });

  test('shows no secret that is wrong', () => {
    const message = messageOf({ ...oidc, AEGIS_OIDC_CLIENT_SECRET: 's3cret s3cret' });
    expect(message).toMatch(/^AEGIS_OIDC_CLIENT_SECRET must be /);
    expect(message).not.toContain('s3cret');
  });

  test.each(['http://127.0.0.1:9000', 'http://localhost', 'http://[::1]:1/a'])(
    'takes %s, on this machine',
    (issuer) => {
      expect(loadConfig({ ...oidc, AEGIS_OIDC_ISSUER: issuer }).oidc?.issuer).toBe(issuer);
    },
  );
});

test.each([
  ['http://localhost:8080', {}],
  ['http://[::1]:8080', {}],
  ['http://aegis.internal', { AEGIS_ALLOW_PLAIN_HTTP: '1' }],
])('the public address may be %s', (address, more) => {
  expect(loadConfig({ AEGIS_PUBLIC_URL: address, ...more }).publicUrl).toBe(address);
});

describe('database urls', () => {
  test.each([
    'postgres://db/aegis',
    'postgresql://u:p%40ss@db:5432/aegis?sslmode=require',
    'postgres://u:p@a:5432,b:5433/aegis',
    'postgres://u@%2Fvar%2Frun%2Fpostgresql/aegis',
    'postgres:///aegis?host=/var/run/postgresql',
    'postgres://[::1]:5432/aegis',
  ])('%s is one', (url) => {
    expect(loadConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
  });

  test('a listen url alone is refused', () => {
    expect(messageOf({ DATABASE_LISTEN_URL: 'postgres://db/aegis' })).toMatch(
      /^DATABASE_LISTEN_URL .*DATABASE_URL/,
    );
  });
});

describe('names', () => {
  test.each([
    ['AEGIS_APPROVAL_TTL', 'AEGIS_APPROVAL_TTL_SECS'],
    ['AEGIS_TRUSTED_PROXY', 'AEGIS_TRUST_PROXY'],
    ['AEGIS_PENDING_LIMITS', 'AEGIS_PENDING_LIMIT'],
    ['AEGIS_HOST', 'HOST'],
    ['AEGIS_DATABASE_URL', 'DATABASE_URL'],
  ])('%s is refused, and %s suggested', (name, meant) => {
    expect(messageOf({ [name]: '1' })).toBe(
      `${name} is not a variable of this service. Did you mean ${meant}?`,
    );
  });

  test('a name near to none is refused with no suggestion, an empty value or not', () => {
    expect(messageOf({ AEGIS_SOMETHING_ELSE_ENTIRELY: '' })).toBe(
      'AEGIS_SOMETHING_ELSE_ENTIRELY is not a variable of this service. Unset it',
    );
  });

  test('the client’s names, those of Kubernetes and those of others are ignored', () => {
    const others = {
      AEGIS_URL: 'x',
      AEGIS_KEY: 'x',
      AEGIS_PORT: 'tcp://10.0.0.1:8080',
      AEGIS_PORT_8080_TCP_ADDR: '10.0.0.1',
      AEGIS_SERVICE_HOST: '10.0.0.1',
      AEGIS_SERVICE_PORT_HTTP: '8080',
      PATH: '/bin',
      AEGISX: '1',
    };
    expect(loadConfig(others)).toEqual(loadConfig({}));
  });
});

describe('listening beyond loopback', () => {
  test.each(['0.0.0.0', '::', '10.0.0.1', 'a.test', '127.1'])(
    'HOST=%s needs a named proxy or consent',
    (host) => {
      const message = messageOf({ HOST: host });
      expect(message).toMatch(/^HOST is .*AEGIS_TRUST_PROXY.*AEGIS_ALLOW_PLAIN_HTTP=1$/);
      expect(messageOf({ HOST: host, AEGIS_ALLOW_PLAIN_HTTP: '0' })).toBe(message);
      expect(loadConfig({ HOST: host, AEGIS_ALLOW_PLAIN_HTTP: '1' }).host).toBe(host);
      expect(loadConfig({ HOST: host, AEGIS_TRUST_PROXY: '10.0.0.0/8' }).host).toBe(host);
    },
  );

  test.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost', 'LOCALHOST'])('HOST=%s needs neither', (host) => {
    expect(loadConfig({ HOST: host }).host).toBe(host);
  });
});
