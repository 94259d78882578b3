import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A certificate of its own signature for `upstream.test` and 127.0.0.1. */
export function selfSigned(folder: string): {
  readonly key: Buffer
  readonly cert: Buffer
  readonly file: string
} {
  const [key, file] = [`${folder}/key.pem`, `${folder}/cert.pem`]
  const subject = ['-subj', '/CN=upstream.test', '-addext', 'subjectAltName=DNS:upstream.test,IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', file], {
    stdio: 'pipe',
  })
  return { key: readFileSync(key), cert: readFileSync(file), file }
}
