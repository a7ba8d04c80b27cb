import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

// An authenticator in software (Web Authentication Level 3 §6), with the browser in front of it: ES256, attestation
// `none`. It does what it is told: what a real one or a real browser would refuse to make, the service has to refuse.

/** How one answer differs from what an honest authenticator and browser make. */
export interface Deviation {
  origin?: string;
  rpId?: string;
  /** Base64url; in place of the options' own. */
  challenge?: string;
  isUserVerified?: boolean;
  isUserPresent?: boolean;
  crossOrigin?: boolean;
  /** The counter that the answer shows. */
  counter?: number;
  /** In place of `webauthn.get` or `webauthn.create`. */
  type?: string;
  /** The credential that the answer names, signed with this one's key all the same. */
  credentialId?: string;
  /** Signed with this key instead. */
  key?: KeyObject;
}

interface Options {
  challenge: string;
  rp?: { id: string };
  rpId?: string;
}

const FLAG_USER_PRESENT = 0x01;
const FLAG_USER_VERIFIED = 0x04;
const FLAG_ATTESTED_DATA = 0x40;

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 0x100) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

/** The little of CBOR (RFC 8949) that is needed. */
function encode(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'utf8');
    return Buffer.concat([head(3, bytes.length), bytes]);
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const members = [...value].flatMap(([key, member]) => [encode(key), encode(member)]);
  return Buffer.concat([head(5, value.size), ...members]);
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

/** A COSE key (RFC 9053 §7.1.1) of a P-256 key for ES256. */
function toCoseKey(key: KeyObject): Buffer {
  const { x, y } = key.export({ format: 'jwk' }) as { x: string; y: string };
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
  return encode(
    new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]),
  );
}

/** One passkey and the page that asks for it. */
export class SoftwareAuthenticator {
  readonly origin: string;
  readonly credentialId = randomBytes(32).toString('base64url');
  readonly #key: KeyObject;
  readonly #publicKey: KeyObject;
  counter = 0;
  /** Whether it counts its uses; one that does not shows 0 each time. */
  readonly #isCounting: boolean;

  constructor(origin: string, { isCounting = true }: { isCounting?: boolean } = {}) {
    this.origin = origin;
    this.#isCounting = isCounting;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }));
    this.#publicKey = publicKey;
  }

  #count(): number {
    if (this.#isCounting) this.counter += 1;
    return this.counter;
  }

  #clientData(type: string, options: Options, deviation: Deviation): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: deviation.type ?? type,
        challenge: deviation.challenge ?? options.challenge,
        origin: deviation.origin ?? this.origin,
        crossOrigin: deviation.crossOrigin ?? false,
      }),
    );
  }

  #authenticatorData(rpId: string, deviation: Deviation, attested?: Buffer): Buffer {
    const flags =
      ((deviation.isUserPresent ?? true) ? FLAG_USER_PRESENT : 0) |
      ((deviation.isUserVerified ?? true) ? FLAG_USER_VERIFIED : 0) |
      (attested === undefined ? 0 : FLAG_ATTESTED_DATA);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(deviation.counter ?? this.#count());
    const parts = [sha256(deviation.rpId ?? rpId), Buffer.from([flags]), counter];
    return Buffer.concat(attested === undefined ? parts : [...parts, attested]);
  }

  #wrap<Response extends object>(response: Response, deviation: Deviation) {
    const id = deviation.credentialId ?? this.credentialId;
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  /** What `navigator.credentials.create` answers, as JSON. `attestation` replaces the format and its statement. */
  create(
    options: Options,
    deviation: Deviation = {},
    attestation?: { fmt: string; attStmt: Map<string, Cbor> },
  ) {
    const id = Buffer.from(this.credentialId, 'base64url');
    const length = Buffer.from([id.length >> 8, id.length & 0xff]);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, toCoseKey(this.#publicKey)]);
    const authData = this.#authenticatorData(options.rp?.id ?? '', deviation, attested);
    const attestationObject = encode(
      new Map<string, Cbor>([
        ['fmt', attestation?.fmt ?? 'none'],
        ['attStmt', attestation?.attStmt ?? new Map()],
        ['authData', authData],
      ]),
    );
    return this.#wrap(
      {
        clientDataJSON: this.#clientData('webauthn.create', options, deviation).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      },
      deviation,
    );
  }

  /** What `navigator.credentials.get` answers, as JSON. */
  get(options: Options, deviation: Deviation = {}) {
    const clientData = this.#clientData('webauthn.get', options, deviation);
    const authenticatorData = this.#authenticatorData(options.rpId ?? '', deviation);
    const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
    return this.#wrap(
      {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign('sha256', signed, deviation.key ?? this.#key).toString('base64url'),
      },
      deviation,
    );
  }
}
