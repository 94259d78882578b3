import * as v from 'valibot'
import { type FailureCode, failureKinds } from '../call/failure.ts'
import type { Infer } from '../call/infer.ts'

/** The body of every answer of the dashboard with a status of 400 and above. */
export const ErrorBody = v.object({
  error: v.object({
    code: v.string(),
    message: v.string(),
    /** The parameter or setting that is wrong. */
    param: v.nullable(v.string()),
    /** The last lines of the gateway's log, if the gateway did not start. */
    log: v.exactOptional(v.array(v.string())),
    /** Facts for programs. For `folded_range`, `from` is the first instant that can be asked for. */
    data: v.exactOptional(v.record(v.string(), v.string())),
  }),
})

export type ErrorBody = Infer<typeof ErrorBody>

/** The answer of a command without a result. */
export const Done = v.object({ success: v.literal(true) })

/** The shape of an OpenAI error, so that client libraries raise the same exception as for the upstream. */
export const OwnError = v.object({
  error: v.object({
    message: v.string(),
    type: v.string(),
    param: v.null(),
    code: v.picklist(Object.keys(failureKinds) as FailureCode[]),
  }),
})

export type OwnError = Infer<typeof OwnError>
