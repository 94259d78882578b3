import type { StoredCall } from '../call/call-record.ts'
import type { Fields } from './field-values.ts'
import { litellmCall } from './litellm.ts'
import { olderProxyCalls } from './older-proxy.ts'
import { ownCall } from './own-export.ts'

/** The origins of a file. */
export type ImportSource = 'tokenweir' | 'api-calls' | 'litellm'

interface ImportForm {
  readonly words: string
  /** A file with all of these columns has this form. */
  readonly columns: readonly string[]
  /** The calls of a record, which may be a sum of several calls. Throws `FieldError`. */
  readonly callsOf: (fields: Fields) => Iterable<StoredCall>
}

/** The forms that can be imported. Detection tries them in this order. */
export const importForms: Readonly<Record<ImportSource, ImportForm>> = {
  tokenweir: {
    words: 'an export of tokenweir',
    columns: ['call_type', 'endpoint', 'id', 'instance', 'outcome', 'request_bytes', 'usage_source'],
    callsOf: (fields) => [ownCall(fields)],
  },
  litellm: {
    words: 'LiteLLM_SpendLogs of LiteLLM',
    columns: ['request_id', 'call_type', 'startTime', 'endTime', 'prompt_tokens', 'completion_tokens'],
    callsOf: (fields) => [litellmCall(fields)],
  },
  'api-calls': {
    words: 'the database of the older Python proxy (api_calls)',
    columns: ['timestamp', 'model', 'status_code', 'input_tokens', 'output_tokens'],
    callsOf: olderProxyCalls,
  },
}

export const importSources = Object.keys(importForms) as readonly ImportSource[]
