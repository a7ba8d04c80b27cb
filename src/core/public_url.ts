/** The service's own address, for links and for what is bound to an origin. */
export interface PublicUrl {
  /** Without a trailing slash; `http://localhost:<port>` where none was configured. */
  get(): string;
  /** Whether an operator has set it; then no other origin is the service's own. */
  isConfigured: boolean;
}
