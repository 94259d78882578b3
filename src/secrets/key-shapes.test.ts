import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { hex32, keys, mixed } from '../../test/support/sample-keys.ts'
import { maskKeyBytes, maskKeys, secretMark } from './key-shapes.ts'
import { assertWithin } from '../../test/support/assert-within.ts'

/** Of keys that are known only by what stands behind a dot. */
const leastLeft: Readonly<Record<string, number>> = {
  Zhipu: 34,
  Discord: 26,
  'Slack webhook': 20,
  Telegram: 20,
  'Azure client secret': 37,
  'JFrog reference token': 24,
  Airtable: 30,
  Terraform: 30,
  Dynatrace: 20,
  Facebook: 30,
  OpenShift: 20,
  'Cloudflare origin CA': 20,
}

/** Texts around a key in the wild: all before it, all behind it. */
const settings: readonly (readonly [string, string])[] = [
  ['', ''],
  ['Incorrect API key provided: ', '. You can find your API key at https://example.com.'],
  ['{"messages":[{"role":"user","content":"use ', ' please"}]}'],
  ['{"content":"lines\\n', '\\nmore"}'],
  ['{"arguments":"{\\"key\\":\\"', '\\"}"}'],
  ['{"arguments":"{\\"text\\":\\"a\\\\n', '\\\\nb\\"}"}'],
  ["curl -H 'Authorization: Bearer ", "' https://api.example.com/v1/models"],
  ['https://example.com/v1/models?key=', '&alt=sse'],
  ['FOO_TOKEN=', '\nBAR=1'],
  ['密钥', '。'],
  ['(', ')'],
  ['**', '**'],
  ['prefix-', ' x'],
]

for (const [provider, key] of Object.entries(keys)) {
  const before = provider === 'Slack webhook' ? 'https://hooks.slack.com/services/' : ''
  test(`a credential of ${provider} is masked wherever it stands`, () => {
    for (const [left, right] of settings) {
      const text = `${left}${before}${key}${right}`
      const masked = maskKeys(text)
      assert.ok(masked.includes(secretMark), masked)
      for (let at = 0; at + 12 <= key.length; at++) {
        assert.ok(!masked.includes(key.slice(at, at + 12)), `${text} -> ${masked}`)
      }
      if (text.startsWith('{')) JSON.parse(masked)
    }
  })

  test(`a credential of ${provider} that a cut left is masked`, () => {
    const text = `{"content":"${before}${key}`
    // A rest of a prefix alone is no part of a key; a few have a common form only when they are nearly whole.
    const least = Math.max(18, leastLeft[provider] ?? 0)
    for (let length = text.length - 1; length >= text.length - key.length + least; length--) {
      const masked = maskKeys(text.slice(0, length), true)
      assert.ok(masked.includes(secretMark), text.slice(0, length))
      assert.ok(!masked.includes(key.slice(0, 12)), masked)
    }
  })
}

const announced: readonly [text: string, masked: string][] = [
  ['Incorrect API key provided: sk-proj-abcdEFGH1234.', 'Incorrect API key provided: [secret].'],
  ['Incorrect API key provided: sk-abcde*********wxyz.', 'Incorrect API key provided: [secret].'],
  ['key sk-test-0000000000000000 is off', 'key [secret] is off'],
  ['bad header Bearer abcdef123456', 'bad header Bearer [secret]'],
  ['{"token":"abc123def456"}', '{"token":"[secret]"}'],
  [`{"api-key": "${hex32}"}`, '{"api-key": "[secret]"}'],
  [`AZURE_OPENAI_API_KEY=${hex32}`, 'AZURE_OPENAI_API_KEY=[secret]'],
  [`-H "api-key: ${hex32}"`, '-H "api-key: [secret]"'],
  [`Ocp-Apim-Subscription-Key: ${hex32}`, 'Ocp-Apim-Subscription-Key: [secret]'],
  [`MISTRAL_API_KEY='${mixed}'`, "MISTRAL_API_KEY='[secret]'"],
  [`"COHERE_API_KEY": "${mixed}aB3dE6gH",`, '"COHERE_API_KEY": "[secret]",'],
  [`co = cohere.Client(api_key="${mixed}")`, 'co = cohere.Client(api_key="[secret]")'],
  [`{\\"apiKey\\": \\"${hex32}\\"}`, '{\\"apiKey\\": \\"[secret]\\"}'],
  ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'aws_secret_access_key = [secret]'],
  ['"SecretAccessKey": "wJalrXUtnFEMI\\/K7MDENG+bPxRfiCY"', '"SecretAccessKey": "[secret]"'],
  [`AccountKey=${mixed}${mixed}==;EndpointSuffix=x`, 'AccountKey=[secret];EndpointSuffix=x'],
  [`DD_APP_KEY=${hex32}`, 'DD_APP_KEY=[secret]'],
  [
    `SharedAccessSignature?sv=2024-01-01&sig=${mixed}%3D&se=1`,
    'SharedAccessSignature?sv=2024-01-01&sig=[secret]&se=1',
  ],
  ['https://x.test/v1?api_key=hunter&b=1', 'https://x.test/v1?api_key=[secret]&b=1'],
  ['https://x.test/v1?a=1&key=hunter2', 'https://x.test/v1?a=1&key=[secret]'],
  [`https://x.test/o?X-Amz-Signature=${hex32}${hex32}`, 'https://x.test/o?X-Amz-Signature=[secret]'],
  ['postgres://user:pa55word@db:5432/x', 'postgres://[secret]@db:5432/x'],
  ['https://user:p@ss@host/x', 'https://[secret]@host/x'],
  ['"https:\\/\\/user:pass@host\\/x"', '"https:\\/\\/[secret]@host\\/x"'],
  ['curl -u admin:hunter2 https://x.test', 'curl -u admin:[secret] https://x.test'],
  ['curl --user admin:hunter2 https://x.test', 'curl --user admin:[secret] https://x.test'],
  ['{"password":"correcthorse"}', '{"password":"[secret]"}'],
  ['{"password":"p@ss, w0rd"}', '{"password":"[secret], w0rd"}'],
  ['{"password":"a,b;c(d)"}', '{"password":"[secret]"}'],
  ['{"password":"$ecretWord"}', '{"password":"[secret]"}'],
  ['password=correcthorse&user=me', 'password=[secret]&user=me'],
  ['invalid token abc123def456(expired)', 'invalid token [secret](expired)'],
  ['DB_PASSWORD=hunter2', 'DB_PASSWORD=[secret]'],
  ['client_secret: abcDEF123456', 'client_secret: [secret]'],
  ['Authorization: Basic dXNlcjpwYXNzd29yZA==', 'Authorization: Basic [secret]'],
  ['sent Basic dXNlcjpwYXNzd29yZA== there', 'sent Basic [secret] there'],
  ['Cookie: session=abc; theme=dark\nAccept: */*', 'Cookie: [secret]\nAccept: */*'],
  ['{"authorization":"Token abcdef123456"}', '{"authorization":"Token [secret]"}'],
  [`my key is ${mixed}aB3dE6gH`, 'my key is [secret]'],
  ['The key was "9f8e7d6c5b4a39281706f5e4d3c2b1a0"', 'The key was "[secret]"'],
  [
    '--b\r\nContent-Disposition: form-data; name="api_key"\r\n\r\nhunter22\r\n--b--',
    '--b\r\nContent-Disposition: form-data; name="api_key"\r\n\r\n[secret]\r\n--b--',
  ],
  [
    'Content-Disposition: form-data; name="password"\r\nContent-Type: text/plain\r\n\r\nfour words of it\r\n--b',
    'Content-Disposition: form-data; name="password"\r\nContent-Type: text/plain\r\n\r\n[secret]\r\n--b',
  ],
  ['sk\\u002dproj\\u002dabcdEFGH1234', '[secret]'],
  ['{"a":"\\u0073k-proj-abcdEFGH1234"}', '{"a":"[secret]"}'],
  ['{"a":"{\\"b\\":\\"\\\\u0073k-proj-abcdEFGH1234\\"}"}', '{"a":"{\\"b\\":\\"[secret]\\"}"}'],
  ['{"a":"sk-proj-abcd\\u0045FGH1234"}', '{"a":"[secret]"}'],
  ['{"a":"x\\u000ask-proj-abcdEFGH1234"}', '{"a":"x\\u000a[secret]"}'],
  ['/v1/x/sk%2Dproj%2DabcdEFGH1234/y', '/v1/x/[secret]/y'],
  [
    '-----BEGIN RSA PRIVATE KEY-----\nMIIE+/=\nabc\n-----END RSA PRIVATE KEY----- and more',
    '-----BEGIN RSA PRIVATE KEY-----[secret]-----END RSA PRIVATE KEY----- and more',
  ],
  [
    '{"k":"-----BEGIN PRIVATE KEY-----\\nMIIE+/=\\nabc","l":"x"}',
    '{"k":"-----BEGIN PRIVATE KEY-----[secret]","l":"x"}',
  ],
]

for (const [text, masked] of announced) {
  test(`the secret in ${JSON.stringify(text)} is masked`, () => {
    assert.equal(maskKeys(text), masked)
  })
}

const lookAlikes: readonly string[] = [
  'sk-learn and scikit-learn are the same',
  'sk-SK is a locale',
  'task-1a2b3c4d5e6f, risk-free-investment-2024, disk-usage-4567abcd',
  'deepseek-r1-distill-qwen-7b',
  'gpt-4o-mini-2024-07-18, claude-sonnet-4-5-20250929, Qwen3-30B-A3B-Instruct-2507-FP8',
  'key-value-store-implementation',
  'the hf_hub_download_with_progress function, hf_transfer, npm_config_registry, fw_version_2',
  'xai-grok-4-fast-reasoning',
  'r8_unorm texture, pa-system, fc-cache, whsec',
  'call_aB3dE6gH9jK2mN5pQ8rS1tU4',
  'chatcmpl-aB3dE6gH9jK2mN5pQ8rS1tU4, cmpl-1234567890abcdef',
  'msg_01aB3dE6gH9jK2mN5pQ8rS1tU4, toolu_01aB3dE6gH9jK2mN5pQ8rS1t',
  `resp_${hex32}, rs_${hex32}, fc_${hex32}, item_aB3dE6gH9jK2`,
  'req_aB3dE6gH9jK2mN5p, gen-1234567890-aB3dE6gH9jK2, run_aB3dE6gH9jK2, file-aB3dE6gH9jK2',
  'asst_aB3dE6gH9jK2mN5pQ8rS1tU4, thread_aB3dE6gH9jK2mN5p, vs_67aB3dE6gH9jK2',
  '550e8400-e29b-41d4-a716-446655440000',
  `sha256:${hex32}${hex32} and da39a3ee5e6b4b0d3255bfef95601890afd80709`,
  'fp_44709d6fcb, ft:gpt-4o-mini:org:name:aB3dE6gH',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  '{"usage":{"prompt_tokens":123456789,"completion_tokens":2048},"max_tokens":16384}',
  '{"token":"Hello","logprob":-0.123456789,"bytes":[72,101]}',
  '{"token":123456789,"password":12345678,"secret":null}',
  '{"type":"object","properties":{"password":{"type":"string"},"token":{"type":"string"}}}',
  '{"password":"string","required":["password","token"]}',
  '["token","abc123def456"]',
  'The model `gpt-5-mini` does not exist',
  'This model supports at most 128000 tokens, whereas 130000 were given',
  'token limit exceeded',
  'You exceeded your current quota, please check your plan',
  'the secret ingredient is a bearer of good news',
  'basic understanding, Basic JavaScript1 course',
  'api_key=os.environ["OPENAI_API_KEY"], apiKey: process.env.OPENAI_API_KEY2',
  'api_key="not-needed", api_key="your-api-key-here", password=${DB_PASSWORD1}, token=$TOKEN1234',
  'password = getpass1(), secret = secrets1["a"]',
  'http://localhost:8080/v1, https://medium.com/@user, ssh://git@github.com/x, http://127.0.0.1:1234',
  'docker run -u 1000:1000 image, python -u main.py',
  'https://x.test/search?q=monkey&page=2&keyboard=qwerty',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  'internationalization-of-the-telecommunications-infrastructure',
  '1767225600:abc, 12:30:45, 2026-01-01T00:00:00.000Z',
  'a Cookie: chocolate chip, authorization: see below',
  'the primary key is a9b8c7, the key is 0123456789, the key was lost; key: value',
  'Content-Disposition: form-data; name="purpose"\r\n\r\nfine-tune-2026a\r\n--b',
  '{"text":"SGVsbG8sIHdvcmxkISBUaGlzIGlzIGEgbG9uZyBzZW50ZW5jZSB3aXRob3V0IGFueXRoaW5nLg=="}',
  'sha256~short, EAAsy, LTAI, pat.ch, pul-over, patterns.0123456789abcdef, v1.0-beta-2, 8Q~, pat.method1234name()',
  'EAAccessibilityGuidelinesForInternationalOrganizations, AKC registered',
  'eyJ is how JSON begins in base64, like eyJhIjoxfQ==',
  'dapibus ac facilisis in, AKIA and ASIA are prefixes',
  'org-aB3dE6gH9jK2mN5p, proj_aB3dE6gH9jK2mN5p, batch_aB3dE6gH9jK2',
  '{"prompt_cache_key":"session-1a2b3c4d5e6f","idempotency_key":"1a2b3c4d5e6f"}',
  '{"signature":"EqoBCkgIARABGAIiQL0aB3dE6gH9jK2mN5pQ8rS1tU4"}',
  '\u003ca href=\\u0022https://x.test/%20a\\u0022\\u003e',
]

for (const text of lookAlikes) {
  test(`${JSON.stringify(text)} stays as it is`, () => {
    assert.equal(maskKeys(text), text)
  })
}

test('bytes without a credential are handed back as they are', () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x41])
  assert.equal(maskKeyBytes(bytes), bytes)
})

test('what a port and a cut make look like a password stays', () => {
  assert.equal(maskKeys('see http://localhost:80', true), 'see http://localhost:80')
  assert.equal(maskKeys('see https://user:hun', true), 'see https://[secret]')
})

const hostile: Readonly<Record<string, string>> = {
  'prefixes in a row': 'sk-'.repeat(350_000),
  'short runs of prefixes': `${'sk-'.repeat(80)} `.repeat(4300),
  'announcing words': 'token=token:'.repeat(90_000),
  'words and quotes': '"password":"'.repeat(90_000),
  'slashes of URLs': '://'.repeat(350_000),
  'users of URLs': `http://${'a:'.repeat(500_000)}`,
  'beginnings of tokens': 'eyJhbGciOi.'.repeat(95_000),
  'dots and letters': 'SG.aaaaaaaaaaaaaaaaaaaa.'.repeat(45_000),
  'private keys': '-----BEGIN PRIVATE KEY-----'.repeat(39_000),
  'labels without end': '-----BEGIN '.repeat(95_000),
  escapes: '\\u0073'.repeat(175_000),
  backslashes: `${'\\'.repeat(1_000_000)}"\\u0041`,
  percents: '%73%6b%2d'.repeat(115_000),
  stars: 'sk-***'.repeat(175_000),
  'one letter': 'a'.repeat(1_000_000),
  cookies: 'Cookie: '.repeat(130_000),
  numbers: '12345678:'.repeat(115_000),
}

for (const [what, text] of Object.entries(hostile)) {
  test(`a megabyte of ${what} is masked in time`, () => {
    const begun = performance.now()
    maskKeys(text, true)
    const took = performance.now() - begun
    // Some 20 ms as a rule; what is not linear takes minutes.
    assertWithin(3000, took, 'the text')
  })
}

test('masking never throws, and leaves JSON as JSON', () => {
  const word = fc.constantFrom(
    ...Object.values(keys).slice(0, 20),
    '"',
    '\\',
    'token',
    ': ',
    '=',
    'sk-',
    '://',
    '@',
    '\n',
    '\\n',
    'é',
    'a1b2c3d4e5',
  )
  fc.assert(
    fc.property(fc.array(word, { size: 'max', maxLength: 30 }), fc.boolean(), (words, isCut) => {
      maskKeys(words.join(''), isCut)
      JSON.parse(maskKeys(JSON.stringify({ text: words.join(''), nested: JSON.stringify(words) })))
    }),
  )
})
