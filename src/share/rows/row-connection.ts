import { connect, errorInWords } from '../postgres.ts'
import { makeSharedSchema } from '../schema/shared-schema.ts'
import type { OpenSharedDatabase } from './share-roles.ts'

const statementTimeoutMs = 20_000

/** Connects for the sending and fetching of rows. Rejects in words for people. */
export async function connectRows(url: string): Promise<OpenSharedDatabase> {
  try {
    const connection = await connect(url, { applicationName: 'tokenweir rows', statementTimeoutMs })
    try {
      // To compile statements of so many columns takes seconds, to run them milliseconds.
      await connection.query('SET jit = off')
      await makeSharedSchema(connection)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    throw new Error(errorInWords(error, url), { cause: error })
  }
}
