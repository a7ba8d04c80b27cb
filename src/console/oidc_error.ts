/** Why the provider signs nobody in: it does not answer, it refused, or its answer does not hold. */
export class OidcError extends Error {
  readonly kind: 'unreachable' | 'refused' | 'invalid';

  constructor(kind: OidcError['kind'], cause: unknown) {
    super(`the OpenID provider signs nobody in: ${kind}`, { cause });
    this.name = 'OidcError';
    this.kind = kind;
  }
}
