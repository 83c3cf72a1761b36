/** Describes the mistakes in a payload for its sender: the place and the rule, never the value. */

import type { ErrorObject } from 'ajv'
import type { FieldError } from '../../resolve/model/decision.ts'

/** Maximum number of reasons listed if no branch of a choice is satisfied. */
const maxDetails = 5
/** A pointer holds a key that the sender chose, which may be a megabyte long. */
const maxKeyLength = 64
const maxListLength = 200

/** Describes the rule that refused first, then why the branches of a choice failed. */
export function describeErrors(errors: readonly ErrorObject[]): FieldError[] {
  // Ajv's last error is the outermost, and `if` adds nothing to the error of its branch.
  const reported = errors.toReversed()
  while (reported.length > 1 && reported[0]?.keyword === 'if') reported.shift()
  const details = new Map<string, FieldError>()
  for (const error of reported) {
    const detail = describe(error)
    details.set(`${detail.pointer} ${detail.message}`, detail)
    if (details.size === maxDetails) break
  }
  return [...details.values()]
}

function describe({ keyword, params, instancePath, message }: ErrorObject): FieldError {
  const pointer = shortened(instancePath)
  const below = (key: unknown): string => `${pointer}/${shortKey(escaped(String(key)))}`
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
    case 'dependencies':
      return { pointer: below(params['missingProperty']), message: 'is required' }
    case 'additionalProperties':
      return { pointer: below(params['additionalProperty']), message: 'is not allowed here' }
    case 'unevaluatedProperties':
      return { pointer: below(params['unevaluatedProperty']), message: 'is not allowed here' }
    case 'propertyNames':
      return { pointer: below(params['propertyName']), message: 'has a name that is not allowed' }
    case 'type':
      return { pointer, message: `must be ${[params['type']].flat().join(' or ')}` }
    case 'enum':
      return { pointer, message: `must be one of ${listed(params['allowedValues'])}` }
    case 'const':
      return { pointer, message: `must be ${listed([params['allowedValue']])}` }
    case 'maxLength':
      return { pointer, message: `must have at most ${params['limit']} characters` }
    case 'minLength':
      return { pointer, message: `must have at least ${params['limit']} characters` }
    case 'format':
      return { pointer, message: `must be a valid ${params['format']}` }
    case 'anyOf':
      return { pointer, message: 'must satisfy one of several schemas (anyOf)' }
    case 'oneOf':
      return { pointer, message: 'must satisfy exactly one of several schemas (oneOf)' }
    case 'not':
      return { pointer, message: 'must not satisfy a schema (not)' }
    case 'false schema':
      return { pointer, message: 'is not allowed' }
    default:
      return { pointer, message: message ?? `does not satisfy ${keyword}` }
  }
}

/** Lists values of the schema, not of the payload. */
function listed(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ')
  return text.length > maxListLength ? `${text.slice(0, maxListLength)}…` : text
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function shortened(pointer: string): string {
  return pointer.split('/').map(shortKey).join('/')
}

function shortKey(key: string): string {
  return key.length > maxKeyLength ? `${key.slice(0, maxKeyLength)}…` : key
}
