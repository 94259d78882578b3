import { chatFailures } from './chat-failures.ts'
import { errorBodies } from './error-bodies.ts'
import { hostedStreams } from './hosted-streams.ts'
import { localStreams } from './local-streams.ts'
import { otherStreams } from './other-streams.ts'
import { reportedForms } from './reported-forms.ts'
import { streamShapes } from './stream-shapes.ts'
import type { WireForm } from './wire-form.ts'
import { wholeBodies } from './whole-bodies.ts'

/** Every form that an answer may have. */
export const allWireForms: readonly WireForm[] = [
  ...hostedStreams,
  ...localStreams,
  ...streamShapes,
  ...chatFailures,
  ...otherStreams,
  ...wholeBodies,
  ...errorBodies,
  ...reportedForms,
]
