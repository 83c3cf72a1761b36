/** Decides which models are allowed, and by which names. */

import type { Finding } from '../diagnostic/diagnostic.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'

type Defaults = ConfigurationValue['agents']['defaults']

export interface ModelRules {
  /** The allowed models, each as `<provider>/<model>`. */
  readonly allowed: readonly string[]
  /** Maps an alias to one of `allowed`. */
  readonly aliases: Readonly<Record<string, string>>
}

/** Whether a text has the form `<provider>/<model>`. */
function isModelName(text: string): boolean {
  return /^[^\s/]+\/\S+$/.test(text)
}

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
  const aliases = modelRules(models)?.aliases ?? {}
  return Object.hasOwn(aliases, model) ? (aliases[model] ?? model) : model
}

const folder = ['agents', 'defaults'] as const
const form = 'Write <provider>/<model>, for example openai/gpt-5.'

export function checkModels({ models }: Defaults): Finding[] {
  const findings: Finding[] = []
  const bad = (key: string | number, message: string, hint: string, deeper: string[] = []) =>
    findings.push({ path: [...folder, 'models', key, ...deeper], code: 'INVALID_MODEL', message, hint })
  if (Array.isArray(models)) {
    models.forEach((model: string, index) => {
      if (!isModelName(model)) bad(index, `\`agents.defaults.models[${index}]\` is no model's name`, form)
    })
    return findings
  }
  const taken = new Map<string, string>()
  for (const [model, { alias }] of Object.entries((models ?? {}) as Record<string, { alias?: string }>)) {
    if (!isModelName(model)) bad(model, "`agents.defaults.models` has a key that is no model's name", form)
    if (alias === undefined) continue
    const other = taken.get(alias)
    if (alias.includes('/'))
      bad(model, 'An alias has no `/`', 'A name with `/` is always a model.', ['alias'])
    if (other) bad(model, `The alias \`${alias}\` already stands for ${other}`, 'Choose another.', ['alias'])
    taken.set(alias, model)
  }
  return findings
}

export function checkDefaultModel({ model, models }: Defaults): Finding[] {
  if (model === undefined) return []
  const rules = modelRules(models)
  const path = [...folder, 'model']
  if (rules && Object.hasOwn(rules.aliases, model)) return []
  if (!isModelName(model)) {
    const message =
      '`agents.defaults.model` is neither <provider>/<model> nor an alias of `agents.defaults.models`'
    return [{ path, code: 'INVALID_MODEL', message, hint: form }]
  }
  if (!rules || rules.allowed.includes(model)) return []
  const message = '`agents.defaults.model` is not among `agents.defaults.models`'
  return [{ path, code: 'INVALID_MODEL', message, hint: 'Add it there, or choose one of them.' }]
}
