/** Renders the arguments of a program from templates, without letting a value become a flag. */

import { permanentError } from '@reveille/kit'
import type { ArgumentList } from '../configuration.ts'
import { compileTemplate, type Template, type Values } from './placeholder.ts'

export type Arguments = ReturnType<typeof compileArguments>

/** @throws PluginError `bad-config` */
export function compileArguments(lists: Readonly<Record<string, ArgumentList>>) {
  const groups = Object.entries(lists).flatMap(([key, list]) =>
    list.map((entry, index) => [entry].flat().map((text) => compileTemplate(text, `${key}[${index}]`))),
  )
  return {
    names: new Set(groups.flat().flatMap((template) => template.names)),
    /** @throws PluginError `bad-value` if a value would be read as a flag */
    render(values: Values): string[] {
      const texts: string[] = []
      for (const group of groups) {
        const rendered = group.map((template) => template.render(values))
        if (rendered.includes(undefined)) continue
        for (const [index, text = ''] of rendered.entries()) {
          refuseFlag(text, group[index], texts.includes('--'))
          texts.push(text)
        }
      }
      return texts
    },
  }
}

/** Refuses a value that would be read as a flag, which is only possible before `--`, or that holds a NUL. */
function refuseFlag(text: string, template: Template | undefined, isBehindDashes: boolean): void {
  const names = template?.names.join(', ') ?? ''
  if (text.includes('\0')) throw permanentError('bad-value', `The value for ${names} holds a NUL character.`)
  if (isBehindDashes || !template?.beginsWithValue || !text.startsWith('-')) return
  throw permanentError(
    'bad-value',
    `The value for ${names} begins with a dash, and the program would read it as a flag; ` +
      'write the argument as --name={value}, or a -- before it.',
  )
}
