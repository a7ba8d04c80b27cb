/** An assertion over a statement, with all that it takes to verify it elsewhere. Binary members are base64url. */
export interface VoteSignature {
  /** The canonical statement; its SHA-256 is the challenge that was signed. */
  statement: string;
  credential_id: string;
  /** COSE key (RFC 9053 §7). */
  public_key: string;
  client_data_json: string;
  authenticator_data: string;
  signature: string;
  /** What the authenticator vouched for: the relying party's id and the page's origin. */
  rp_id: string;
  origin: string;
}
