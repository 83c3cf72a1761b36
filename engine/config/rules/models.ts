/** Decides which models are allowed, and by which names. */

import type { Finding } from '../file/diagnostic.ts'
import { type ConfigurationValue, modelPattern } from '../schema/configuration-schema.ts'
import { own } from '../values/is-record.ts'

type Defaults = ConfigurationValue['agents']['defaults']

export interface ModelRules {
  /** The allowed models, each as `<provider>/<model>`. */
  readonly allowed: readonly string[]
  /** Maps an alias to one of `allowed`. */
  readonly aliases: Readonly<Record<string, string>>
}

const modelName = new RegExp(modelPattern, 'u')

export function modelRules(models: Defaults['models']): ModelRules | undefined {
  if (models === undefined) return undefined
  const aliases: Record<string, string> = Object.create(null)
  if (Array.isArray(models)) return { allowed: [...models], aliases }
  for (const [model, { alias }] of Object.entries(models as Record<string, { alias?: string }>)) {
    if (alias !== undefined) aliases[alias] = model
  }
  return { allowed: Object.keys(models), aliases }
}

/** Returns the model of an alias. Any other text is the model itself. */
export function namedModel(model: string, models: Defaults['models']): string {
  return own(modelRules(models)?.aliases ?? {}, model) ?? model
}

const folder = ['agents', 'defaults'] as const

export function* checkAliases({ models = {} }: Defaults): Iterable<Finding> {
  const taken = new Map<string, string>()
  for (const [model, { alias }] of Object.entries(models as Record<string, { alias?: string }>)) {
    if (alias === undefined) continue
    const other = taken.get(alias)
    taken.set(alias, model)
    if (other === undefined) continue
    const message = `The alias \`${alias}\` already stands for ${other}`
    const path = [...folder, 'models', model, 'alias']
    yield { path, code: 'INVALID_MODEL', message, hint: 'Choose another.' }
  }
}

export function checkDefaultModel({ model, models }: Defaults): Finding[] {
  if (model === undefined) return []
  const rules = modelRules(models)
  const path = [...folder, 'model']
  if (rules && Object.hasOwn(rules.aliases, model)) return []
  if (!modelName.test(model)) {
    const problem = 'is neither <provider>/<model> nor an alias of `agents.defaults.models`'
    const hint = 'Write <provider>/<model>, for example openai/gpt-5.'
    return [{ path, code: 'INVALID_MODEL', problem, hint }]
  }
  if (!rules || rules.allowed.includes(model)) return []
  const problem = 'is not among `agents.defaults.models`'
  return [{ path, code: 'INVALID_MODEL', problem, hint: 'Add it there, or choose one of them.' }]
}
