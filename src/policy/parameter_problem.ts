/** A place in a call's parameters that does not fit, with what is expected there; never the value itself. */
export interface ParameterProblem {
  /** JSON Pointer (RFC 6901) from the parameters, `''` for them as a whole. */
  pointer: string;
  /** Reads on after the place: "must be integer". */
  expected: string;
}
