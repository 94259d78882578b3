import { zstdCompressSync } from 'node:zlib'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { type NamedField, namedFields, valueType } from '../call/fields/call-fields.ts'
import type { CallJson } from '../call/call-record.ts'
import type { CallEncoder } from './call-encoder.ts'

/** Rows of a row group. The export keeps one group in memory, and a reader can skip whole groups. */
const groupRows = 10_000

type ColumnType = 'string' | 'instant' | 'whole' | 'number' | 'boolean'

/** https://github.com/apache/parquet-format/blob/master/LogicalTypes.md */
const schemaTypes = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  whole: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
} as const

interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly isRequired: boolean
}

const columns: readonly Column[] = [
  { name: 'id', type: 'string', isRequired: true },
  { name: 'started_at', type: 'instant', isRequired: true },
  ...namedFields.map((field) => ({
    name: field.name,
    type: typeOf(field),
    isRequired: field.required === true,
  })),
]

function typeOf(field: NamedField): ColumnType {
  return field.kind === 'count' ? 'whole' : valueType(field)
}

/**
 * Encodes Apache Parquet, with dictionaries for repeated texts and zstd pages. A row group and the footer are in
 * memory.
 */
export class ParquetEncoder implements CallEncoder {
  readonly #bytes = new ByteWriter()
  readonly #file = new ParquetWriter({
    writer: this.#bytes,
    schema: [
      { name: 'calls', num_children: columns.length },
      ...columns.map(({ name, type, isRequired }) => ({
        name,
        repetition_type: isRequired ? ('REQUIRED' as const) : ('OPTIONAL' as const),
        ...schemaTypes[type],
      })),
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: (page) => zstdCompressSync(page) },
    createdBy: 'tokenweir',
  })
  #rows: CallJson[] = []

  start(): Uint8Array {
    return this.#takeBytes()
  }

  add(calls: readonly CallJson[]): Uint8Array {
    this.#rows.push(...calls)
    if (this.#rows.length >= groupRows) this.#writeGroup()
    return this.#takeBytes()
  }

  end(): Uint8Array {
    if (this.#rows.length > 0) this.#writeGroup()
    // oxlint-disable-next-line no-floating-promises -- a fault here ends the command, as it must
    void this.#file.finish()
    return this.#takeBytes()
  }

  #writeGroup(): void {
    const rows = this.#rows as readonly object[] as readonly Readonly<Record<string, unknown>>[]
    const columnData = columns.map(({ name, type }) => {
      const data = rows.map((row) => row[name])
      return {
        name,
        data: type === 'whole' ? data.map(wholeOf) : type === 'instant' ? data.map(instantOf) : data,
      }
    })
    // oxlint-disable-next-line no-floating-promises -- as above
    void this.#file.write({ columnData, rowGroupSize: this.#rows.length })
    this.#rows = []
  }

  /** Bytes encoded since the last call; offsets in the file continue. */
  #takeBytes(): Uint8Array {
    const bytes = this.#bytes.getBytes().slice()
    this.#bytes.index = 0
    return bytes
  }
}

function wholeOf(value: unknown): bigint | null {
  return typeof value === 'number' ? BigInt(value) : null
}

function instantOf(value: unknown): Date {
  return new Date(String(value))
}
