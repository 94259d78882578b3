/** Settings by their names; which names there are, and which values each takes, the settings themselves know. */
const bySettingName = {
  maxProperties: 64,
  additionalProperties: { type: ['number', 'string', 'boolean'] },
}

/** JSON schema of a body that holds settings. */
export const settings: object = { type: 'object', ...bySettingName }

/** JSON schema of a body that may hold settings. An absent body counts as null. */
export const optionalSettings: object = { type: ['object', 'null'], ...bySettingName }
