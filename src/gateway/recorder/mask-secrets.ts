/** Shapes of credentials of the main providers, and what stands behind the words that announce one. */
const keyShapes =
  /\b(?:sk|pk|rk|gsk|xai|hf|r8|key|nvapi|pplx|fw|csk|esecret|tgp)[-_][\w*.-]{8,}|\bAIza[\w-]{20,}|\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*/g
const announced =
  /\b(bearer|api[-_ ]?key(?: provided)?|token|secret|password)(["']?\s*[:=]\s*["']?|\s+)([^\s"',;]{8,})/gi

/** Longest error message that is kept, in characters. */
const longestMessage = 500

/** An upstream's error message fit to be stored: no credential in it, and not long. */
export function maskSecrets(message: string): string {
  return message
    .slice(0, longestMessage * 4)
    .replace(keyShapes, '[secret]')
    .replace(announced, (whole, word: string, between: string, value: string) =>
      /\d|\*|_/.test(value) ? `${word}${between}[secret]` : whole,
    )
    .slice(0, longestMessage)
}
