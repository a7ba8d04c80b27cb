/** What is wrong with a registration, where in it, and what would mend it. */
export interface RegistrationFault {
  /** JSON Pointer (RFC 6901) from the registration, or from its schema where that is what is looked at. */
  pointer: string;
  message: string;
  help: string;
}
