/** An answer for whoever clicked, and for nobody else; the message itself stays as it is. */
export function toEphemeral(text: string) {
  return { response_type: 'ephemeral', replace_original: false, text } as const;
}
