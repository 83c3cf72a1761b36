/** Lists the recipes by name. A recipe is data, and nothing else in this plugin depends on a vendor. */

import type { CommandConfiguration, Recipe } from '../configuration.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { gemini } from './gemini.ts'

export const recipes: Readonly<Record<NonNullable<CommandConfiguration['preset']>, Recipe>> = {
  claude,
  codex,
  gemini,
}
