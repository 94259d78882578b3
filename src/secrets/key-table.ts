/** The table of all patterns of credentials: those that begin with a known text, and those behind a word or a sign. */
export interface KeyPattern {
  /** Texts with which the credential begins, or which it follows; empty if any word may precede it. */
  readonly anchors: readonly string[]
  /** The characters that may follow the anchor; empty for all. */
  readonly next: string
  /**
   * The pattern of a complete credential, sticky. The credential is the group `key` at the end, or, without
   * that, the whole match, together with the group `before` in front of it.
   */
  readonly full: RegExp
  /** The pattern of the beginning of a cut credential, sticky; null if a beginning cannot be recognised. */
  readonly cut: RegExp | null
  /**
   * True if a match is a credential and not a word, by the group `tested` (else the credential) and the
   * character after it.
   */
  readonly isKey: (tested: string, next: string) => boolean
  /** The pattern of the rest of a long credential, sticky; null without one. */
  readonly rest: RegExp | null
}

type Options = Partial<Pick<KeyPattern, 'isKey' | 'rest'>> & {
  readonly cut?: string | null
  readonly flags?: string
}

/**
 * Returns a test for random text: so many letters and digits in a row (`mixed` if they are mixed or in mixed
 * case, else `any`). Four stars count as hidden characters; fewer may be emphasis.
 */
function random(mixed: number, any: number): KeyPattern['isKey'] {
  return (text) =>
    text.includes('****') ||
    text.split(/[^A-Za-z\d]+/).some((part) => part.length >= any || (part.length >= mixed && isMixed(part)))
}

function isMixed(part: string): boolean {
  return (/\d/.test(part) && /[a-z]/i.test(part)) || (part.match(/\d+|[A-Z]+|[a-z]+/g)?.length ?? 0) > 5
}

function pattern(anchors: readonly string[], next: string, full: string, options: Options = {}): KeyPattern {
  const { cut = full, flags = '', isKey = () => true, rest = null } = options
  return {
    anchors,
    next,
    full: new RegExp(full, `sy${flags}`),
    cut: cut === null ? null : new RegExp(`(?:${cut})$`, `sy${flags}`),
    isKey,
    rest,
  }
}

/** The rest of a key with parts, which dots and base64 padding join. */
const joined = /[\w*-]*(?:[.+][\w*-]+|=[\w*-]*)*/y
const joinedBySlashes = /[\w*-]*(?:[.+/][\w*-]+|=[\w*-]*)*/y
const run = String.raw`[\w*-]`

/** Credentials that begin with one of these texts and match `body` after it. */
function form(names: string, body: string, { cut = body, ...options }: Options): KeyPattern {
  const head = `(?:${names.replaceAll('.', String.raw`\.`).replaceAll(' ', '|')})`
  return pattern(names.split(' '), '', head + body, { ...options, cut: head + cut })
}

/** Credentials that begin with one of these texts and have random text of this length (see {@link random}). */
function prefix(names: string, mixed: number, any: number, rest: RegExp = joined): KeyPattern {
  return form(names, `(?<tested>${run}{1,256})`, { isKey: random(mixed, any), rest })
}

/** Characters that never occur in a URL's user name or an option's value. */
const unspaced = String.raw`\x00-\x20/?#"'<>\\\x60,`
const telegram = String.raw`(?<=(?<before>\d{8,12}):)`
const azure = String.raw`(?<=(?<before>${run}{3}\dQ))~`
const pemText = String.raw`[\w*+/=:,. \n\r\t-]`
/** The end of a key of fixed length. */
const ended = String.raw`(?=\**(?![\w*-]))`

export const byBeginning: readonly KeyPattern[] = [
  // OpenAI, and many with the same prefix: DeepSeek, Moonshot, DashScope, LiteLLM, Helicone …
  prefix('sk-', 8, 16),
  prefix('sk-proj- sk-svcacct- sk-admin- sk-ant- sk-or- sk-lf- pk-lf- sess- sk_live_ sk_test_', 4, 16),
  prefix('rk_live_ rk_test_ pk_live_ pk_test_ sk_prod_ rk_prod_ pk_prod_ whsec_ sk_car_', 4, 16),
  // ElevenLabs, Novita, Inception
  prefix('sk_', 16, 24),
  // Groq, xAI, Perplexity, Cerebras, NVIDIA, Together, Anyscale, Replicate, Hugging Face, Fireworks
  prefix('gsk_ pplx- csk- nvapi- esecret_', 8, 16),
  prefix('xai- tgp_v1_ tgp_ r8_ hf_ api_org_ fw_ cpk_ rpa_', 12, 24),
  // Voyage, Jina, Tavily, Firecrawl, Pinecone, E2B, LangSmith, Mem0
  prefix('pa- fc- m0-', 24, 40),
  prefix('jina_ tvly- pcsk_ e2b_ lsv2_pt_ lsv2_sk_ ls__', 12, 24),
  // GitHub, GitLab
  prefix('ghp_ gho_ ghu_ ghs_ ghr_ github_pat_', 8, 16),
  prefix('glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glffct- glimt- GR1348941', 6, 12),
  // Slack
  prefix('xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xapp-', 6, 10),
  // Package registries
  prefix('npm_ pypi- rubygems_ dckr_pat_ dckr_oat_', 12, 24),
  // Clouds and services
  prefix('dop_v1_ doo_v1_ dor_v1_ shpat_ shpss_ shpca_ shppa_ vck_ vcp_ sbp_ sb_secret_', 8, 16),
  prefix('ops_ lin_api_ figd_ ntn_ secret_ phx_ sntrys_ sntryu_ glsa_ glc_ pscale_tkn_ pscale_pw_', 12, 24),
  prefix('fo1_ fm2_ rnd_ PMAK- HRKU- NRAK- CFPAT- GOCSPX- wandb_v1_ bedrock-api-key- AGE-SECRET-KEY-', 8, 20),
  prefix('xkeysib- xsmtpsib- FLWSECK- FLWSECK_TEST- FLWPUBK- FLWPUBK_TEST-', 8, 24),
  prefix('duffel_live_ duffel_test_', 8, 24),
  prefix('pscale_oauth_ pnu_ pnb_ sgp_ slk_ tfp_ sq0csp- sq0atp- cmVmdGtu LTAI', 12, 24),
  prefix('pat-na1- pat-na2- pat-eu1-', 6, 12),
  prefix('AIza ATATT3 ATBB', 16, 24),
  prefix('ABSK', 16, 24, joinedBySlashes),
  prefix('pul- ico- rdme_ squ_ sqp_ sqa_', 24, 32),
  // EasyPost, JFrog; Facebook and Square, whose prefixes also begin words
  prefix('EZAK EZTK', 40, 54),
  prefix('AKC EAA', 60, 64),
  // SendGrid, Vault, Google, Doppler, Dynatrace, Harness; Cloudflare's origin keys
  form(
    'SG. hvs. hvb. hvr. ya29. AQ. dp.pt. dp.st. dp.ct. dp.sa. dt0c01. dt0s01. dt0s02. dt0s16. pat. sat.',
    `(?<tested>${run}{16,256})`,
    { cut: `${run}{1,256}`, isKey: random(12, 20), rest: joined },
  ),
  prefix('v1.0-', 24, 24),
  // Amazon's ids; prefixes before 32 hexadecimal digits: Databricks, Twilio, Mailgun
  form('AKIA ASIA ABIA ACCA', String.raw`[A-Z\d]{16}${ended}`, { cut: String.raw`[A-Z\d]{3,}\**` }),
  form('dapi SK AC key-', String.raw`[\da-f]{32}${run}{0,2}${ended}`, { cut: `[\\da-f]{4,32}${run}{0,2}` }),
  // JSON web tokens; `id.secret` of Airtable
  form('eyJ', String.raw`${run}{7,}\.${run}{6,}(?:\.${run}+)*`, {
    cut: String.raw`${run}{7,}(?:\.${run}*)?`,
  }),
  form('pat', String.raw`${run}{14}\.${run}{64,}`, { cut: String.raw`${run}{14}\.${run}*` }),
]

/** Keys of random parts with dots between them: Discord, Zhipu. */
export const inParts: readonly KeyPattern[] = [
  pattern([], '', String.raw`(?<tested>${run}{23,31})\.${run}{5,7}\.${run}{25,}`, {
    cut: String.raw`${run}{23,31}\.${run}{5,7}\.${run}*`,
    isKey: random(20, 33),
  }),
  pattern([], '', String.raw`(?<tested>${run}{32})\.(?=${run}{0,64}?[A-Za-z\d]{16})${run}{16,}`, {
    cut: String.raw`${run}{23,32}\.${run}*`,
    isKey: random(20, 33),
  }),
]

const space = String.raw`[ \t]{0,8}`
const quote = String.raw`\\{0,16}["']`
/** An opening quote: it is not followed by what can follow a JSON string. */
const opening = String.raw`${quote}(?![\x00-\x20:,}\]]|$)`
const sign = `${space}[:=][=>]?${space}`
/** After a quoted name only quoted values are masked, so that the text stays valid JSON. */
const inQuotes = `(?:${quote})?${sign}${opening}`
const signed = `(?:${inQuotes}|${sign})`
const is = `(?:provided:? |is:? |was |value )${space}`
const afterSpace = `(?=[ \\t])${space}(?:${is})?(?:${opening})?`
const spoken = `${space}${is}(?:${opening})?`
/** The characters that may be between a word and its value. */
const signs = ` \t:="'\\`
const parameter = `=[=>]?(?!${quote})`
const schemes = `(?:bearer|basic|token|apikey|digest|key|negotiate) ${space}`
/** The name of a scheme of HTTP authentication, or none. */
const scheme = `(?:${schemes}|(?!${schemes}))`

/** A character of an unquoted value. A backslash ends the value, except in `\/`. */
const bare = String.raw`(?:[^\x00-\x20"'\x60,;&<>()[\]{}|#\\]|\\(?=/))`
/** A character of a quoted value. Spaces are excluded, because text with spaces is prose. */
const quoted = String.raw`[^\x00-\x20"'\\]`
const line = String.raw`(?:[^\x00-\x1f"'\\]|\\(?=/))`
/** Placeholders in code and examples. */
const placeholder = String.raw`process\.env|import\.meta|os\.|self\.|this\.|settings\.|config\.|\[secret\]|hmac:|your[-_]|(?:string|null|none|true|false|undefined|required|optional)(?!${bare})|\$[{(]|\$(?-i:[A-Z_][A-Z\d_]*)(?!${bare})`
const value = String.raw`${scheme}(?!${placeholder})(?:(?<=[^\\]["'](?:${schemes})?)(?<key>(?:${quoted}|\\.){1,256})(?=["'])|(?<=\\["'](?:${schemes})?)(?<key>(?:${quoted}|\\(?=/)){1,256})(?=["'\\])|(?<key>${bare}{1,256}(?<![.*])))`
/** The rest of a value, without a final full stop or emphasis. */
const restOfValue = new RegExp(String.raw`(?![.*]*(?!${bare}))${line}*`, 'y')
const restOfLine = new RegExp(`${line}*`, 'y')
const header = `${scheme}(?!${placeholder})(?<key>${line}{1,256})`
const field = String.raw`"(?=[\r\n]).{0,256}?\n\r*\n(?!${placeholder})(?<key>[^\r\n]+)`

const passwords = 'password passwd passphrase pwd'
const keys = String.raw`secret (?:api|app|application|access|secret|private|account|subscription|auth|signing|encryption|master)[_-]?key credential credentials api\x20key`
const tokens = 'token bearer'
const names = 'authorization cookie key sig auth sas jwt pass signature'

/** A credential that one of these words announces. `before` is a pattern for the text before the word. */
function behind(
  words: string,
  before: string,
  next: string,
  announcement: string,
  isKey: KeyPattern['isKey'],
  options: Options = {},
): KeyPattern {
  const names = words.split(' ')
  return pattern(names, next, `(?<=${before}(?:${names.join('|')}))${announcement}`, {
    flags: 'i',
    rest: restOfValue,
    ...options,
    // A parenthesis or a bracket follows code, such as a call or an index.
    isKey: (text, after) => (after === '(' || after === '[' ? random(12, 24) : isKey)(text, after),
  })
}

const isLong = (text: string): boolean => text.length >= 4
const isKeyLike: KeyPattern['isKey'] = (text, next) =>
  (text.length >= 6 && /\d/.test(text)) || random(8, 20)(text, next)
const isHeader: KeyPattern['isKey'] = (text, next) =>
  text.includes('=') || (!text.includes(' ') && random(6, 16)(text, next))

/** True for `name:password` in base64. */
function isLogin(text: string): boolean {
  const decoded = Buffer.from(text.slice(0, 512), 'base64').toString('latin1')
  return text.length >= 8 && /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded)
}

/** Patterns that begin after the anchor: a word, or a sign after any word. */
export const byEnding: readonly KeyPattern[] = [
  // Parameters of a query, also with a prefix such as `X-Amz-`
  behind(
    `${passwords} ${keys} ${tokens} signature`,
    `(?:^|[?&;])${run}{0,64}`,
    '=',
    parameter + value,
    isLong,
  ),
  behind('key sig auth sas jwt pass', '[?&;]', '=', parameter + value, isLong),
  behind(passwords, '', signs, inQuotes + value, isLong),
  behind(`${passwords} ${keys}`, '', signs, signed + value, isKeyLike),
  behind(tokens, '', signs, signed + value, random(8, 20)),
  behind(`${keys} ${tokens}`, '', ' \t', afterSpace + value, random(8, 20), { cut: null }),
  behind('key', `(?<!${run})`, ' \t', spoken + value, random(24, 40), { cut: null }),
  // `Authorization: …` to the end of its line or string; a cookie must have a `=`.
  behind('authorization cookie', '', signs, signed + header, isHeader, { rest: restOfLine }),
  // Form fields: RFC 7578 §4.2
  behind(passwords, 'name="[^"]{0,40}', '"', field, () => true, { rest: null }),
  behind(`${keys} ${tokens} ${names}`, 'name="[^"]{0,40}', '"', field, isKeyLike, { rest: null }),
  behind('basic', '', ' ', String.raw` (?<key>[\w*+/-]{3,}=*)`, isLogin, { cut: null, rest: null }),
  // Terraform; escapes before the first part stay.
  pattern(
    ['atlasv1'],
    '.',
    String.raw`(?<=(?<before>(?<!%.?|\\(?:u.{0,3})?)${run}{0,32}\.atlasv1))\.(?<tested>${run}{1,256})`,
    { isKey: random(12, 20), rest: joined },
  ),
  // A private key in PEM, also with escaped line breaks.
  pattern(
    ['BEGIN'],
    ' ',
    String.raw`(?<=-----BEGIN) (?:(?!-----).){0,40}?PRIVATE KEY(?:(?!-----).){0,20}-----(?<key>(?:(?!-----END)${pemText}|\\+(?=${pemText}))*)`,
    { cut: null },
  ),
  // The password of `curl -u name:password`; the sign before `-u` is part of the anchor.
  pattern(
    ['--user', ' -u', '\n-u', '\t-u', 'n-u', 't-u', '"-u', "'-u"],
    ' ',
    String.raw`(?<=(?:^|[^\w*-]|\\[nt])(?:-u|--user)) [^${unspaced}:]*:(?=\d*[^\d${unspaced}])(?<key>[^${unspaced}]{3,})`,
    { cut: null },
  ),
  // `hooks.slack.com/services/T…/B…/…`, `discord.com/api/webhooks/…/…`
  pattern(
    ['services', 'webhooks'],
    '/',
    String.raw`(?<=services(?=/T)|webhooks(?=/\d))/(?<key>(?=[\w*/-]{30})${run}+(?:/${run}*)+)`,
    { cut: String.raw`(?<=services(?=/T)|webhooks(?=/\d))/(?<key>[\w*/-]*)`, flags: 'i' },
  ),
  // The user and the password of a URL; a port has digits only. Tokens of Telegram, also behind `bot` in a path.
  pattern(
    [],
    ':',
    String.raw`:(?:(?:\\?/){2}(?<key>[^${unspaced}]+)(?=@)|${telegram}(?<tested>${run}{30,}))`,
    {
      cut: String.raw`:(?:(?:\\?/){2}(?<key>[^${unspaced}:@]*:(?=\d*[^\d${unspaced}])[^${unspaced}@]*)|${telegram}A${run}*)`,
      isKey: (text, next) => text.includes(':') || random(8, 20)(text, next),
    },
  ),
  // `sha256~…` of OpenShift; `abc8Q~…` of Azure, whose secrets have dots and tildes in them
  pattern([], '~', `(?<=(?<before>sha256))~(?<tested>${run}{31,})`, {
    cut: `(?<=(?<before>sha256))~${run}*`,
    isKey: random(8, 40),
  }),
  pattern([], '~', String.raw`${azure}(?=[\w*.~-]{31})(?<tested>${run}+(?:[.~]${run}+){0,8})`, {
    cut: String.raw`${azure}[\w*.~-]{0,80}`,
    isKey: random(8, 40),
  }),
]
