/**
 * The prefixes of providers' credentials, and how long and mixed the rest must be, so that words with the same beginning do not
 * match. A segment is a piece between `-`, `_` and other signs.
 */

/** Most characters that are examined: a bound on the cost of hostile texts. */
const longestLook = 256
const hyphen = 0x2d
const underscore = 0x5f
const star = 0x2a
/** Stars in a row that stand for hidden characters; fewer may be emphasis. */
const hidingStars = 4

/** Bits of a byte's class; 0 for bytes that no credential has. */
export const byteClass = { digit: 1, upper: 2, lower: 4, sign: 8 } as const
export const letter: number = byteClass.upper | byteClass.lower

/** The classes of all bytes; bytes of UTF-8 sequences have none. */
export const byteClasses: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x30 && byte <= 0x39) return byteClass.digit
  if (byte >= 0x41 && byte <= 0x5a) return byteClass.upper
  if (byte >= 0x61 && byte <= 0x7a) return byteClass.lower
  return byte === hyphen || byte === underscore || byte === star ? byteClass.sign : 0
})

/** A text as bytes, and as a string with one character for each byte. */
export interface Source {
  readonly bytes: Buffer
  readonly text: string
  /** The text was cut: its end may be the beginning of a credential. */
  readonly isCut: boolean
}

/** The form behind a prefix: a segment of this many characters with digits and letters, or a longer one. */
interface Prefix {
  readonly bytes: Buffer
  readonly mixed: number
  readonly any: number
}

/** Prefixes, and the characters that a segment needs: `mixed` with letters and digits (or both cases), else `any`. */
const prefixTable: readonly (readonly [prefixes: string, mixed: number, any: number])[] = [
  // OpenAI and the many that follow it: DeepSeek, Moonshot, DashScope, LiteLLM, Helicone …
  ['sk-', 8, 16],
  ['sk-proj- sk-svcacct- sk-admin- sk-ant- sk-or- sk-or-v1- sk-lf- pk-lf- sess- sk_live_ sk_test_', 4, 16],
  ['rk_live_ rk_test_ pk_live_ pk_test_ sk_prod_ rk_prod_ pk_prod_ whsec_ sk_car_', 4, 16],
  // ElevenLabs, Novita, Inception
  ['sk_', 16, 24],
  // Groq, xAI, Perplexity, Cerebras, NVIDIA, Together, Anyscale, Replicate, Hugging Face, Fireworks
  ['gsk_ pplx- csk- nvapi- esecret_', 8, 16],
  ['xai- tgp_ tgp_v1_ r8_ hf_ api_org_ fw_ cpk_ rpa_', 12, 24],
  // Voyage, Jina, Tavily, Firecrawl, Pinecone, E2B, LangSmith, Mem0
  ['pa- fc- m0-', 24, 40],
  ['jina_ tvly- pcsk_ e2b_ lsv2_pt_ lsv2_sk_ ls__', 12, 24],
  // GitHub, GitLab
  ['ghp_ gho_ ghu_ ghs_ ghr_ github_pat_', 8, 16],
  ['glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glffct- glimt- GR1348941', 6, 12],
  // Slack
  ['xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xapp-', 6, 10],
  // Package registries
  ['npm_ pypi- rubygems_ dckr_pat_ dckr_oat_', 12, 24],
  // Clouds and services
  ['dop_v1_ doo_v1_ dor_v1_ shpat_ shpss_ shpca_ shppa_ vck_ vcp_ sbp_ sb_secret_', 8, 16],
  ['ops_ lin_api_ figd_ ntn_ secret_ phx_ sntrys_ sntryu_ glsa_ glc_ pscale_tkn_ pscale_pw_', 12, 24],
  ['fo1_ fm2_ rnd_ PMAK- HRKU- NRAK- CFPAT- GOCSPX- wandb_v1_ bedrock-api-key- AGE-SECRET-KEY-', 8, 20],
  ['xkeysib- xsmtpsib- FLWSECK- FLWSECK_TEST- FLWPUBK- FLWPUBK_TEST- duffel_live_ duffel_test_', 8, 24],
  ['pscale_oauth_ pnu_ pnb_ sgp_ slk_ tfp_ sq0csp- sq0atp- cmVmdGtu LTAI', 12, 24],
  ['pat-na1- pat-na2- pat-eu1-', 6, 12],
  ['AIza ATATT3 ATBB ABSK', 16, 24],
  ['pul- ico- rdme_ squ_ sqp_ sqa_', 24, 32],
  // EasyPost, JFrog; Facebook and Square, which words begin like
  ['EZAK EZTK', 40, 54],
  ['AKC EAA', 60, 64],
]

/** The prefixes by their first two bytes. */
const prefixes: ReadonlyMap<number, readonly Prefix[]> = Map.groupBy(
  prefixTable.flatMap(([names, mixed, any]) =>
    names.split(' ').map((name) => ({ bytes: Buffer.from(name), mixed, any })),
  ),
  ({ bytes }) => bytes.readUInt16BE(0),
)
const startsOne = Uint8Array.from({ length: 65536 }, (_, start) => (prefixes.has(start) ? 1 : 0))

/**
 * True if a credential with one of the known prefixes begins here, in a run of its characters that ends at `end`.
 * `isCut`: the text was cut there. `least`: the shortest prefix that counts.
 */
export function beginsKey(
  bytes: Uint8Array,
  start: number,
  end: number,
  isCut: boolean,
  least: number,
): boolean {
  const first = ((bytes[start] ?? 0) << 8) | (bytes[start + 1] ?? 0)
  if (startsOne[first] !== 1) return false
  for (const { bytes: prefix, mixed, any } of prefixes.get(first) ?? []) {
    if (prefix.length < least || !standsAt(bytes, prefix, start, end)) continue
    const body = start + prefix.length
    if (isCut ? body < end : isRandom(bytes, body, end, mixed, any)) return true
  }
  return false
}

/** True if these bytes are at `start`, before `end`. */
function standsAt(bytes: Uint8Array, wanted: Uint8Array, start: number, end: number): boolean {
  if (start + wanted.length > end) return false
  for (let i = 0; i < wanted.length; i++) if (bytes[start + i] !== wanted[i]) return false
  return true
}

/** True if a segment is random: `mixed` characters with letters and digits, or mixed cases; or `any` characters. */
export function isRandom(bytes: Uint8Array, start: number, end: number, mixed: number, any: number): boolean {
  const last = Math.min(end, start + longestLook)
  let from = start
  let seen = 0
  let caseChanges = 0
  let before = 0
  let stars = 0
  for (let at = start; at <= last; at++) {
    const kind = at < last ? (byteClasses[bytes[at] ?? 0] ?? 0) : 0
    if (kind !== 0 && kind !== byteClass.sign) {
      if (before !== 0 && kind !== before) caseChanges++
      before = kind
      seen |= kind
      stars = 0
      continue
    }
    const length = at - from
    const isMixed = ((seen & byteClass.digit) !== 0 && (seen & letter) !== 0) || caseChanges > 4
    if (length >= mixed && isMixed) return true
    if (length >= any) return true
    stars = at < last && bytes[at] === star ? stars + 1 : 0
    if (stars === hidingStars) return true
    from = at + 1
    seen = 0
    caseChanges = 0
    before = 0
  }
  return false
}
