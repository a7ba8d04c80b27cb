/** What a passkey signed, with all that it takes to verify it elsewhere. Binary members are base64url. */
export interface VoteSignature {
  /** The canonical statement; its SHA-256 is the challenge that was signed. */
  statement: string;
  credential_id: string;
  public_key: string;
  client_data_json: string;
  authenticator_data: string;
  signature: string;
  rp_id: string;
  origin: string;
}
