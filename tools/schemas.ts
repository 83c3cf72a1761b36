/**
 * Writes the JSON Schemas for editors, copies of the engine's, so that an editor needs no engine; the OpenAPI document; and the page that
 * lists the keys of the configuration.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { editorSchemas } from '../engine/config/schema/editor-schema.ts'
import { renderConfigurationPage } from './configuration-page.ts'
import { openapiDocument } from './openapi.ts'

/** The job `npm run schemas`. */
export async function schemas(root: string): Promise<void> {
  for (const [name, text] of Object.entries(await schemaFiles())) {
    const file = path.join(root, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text)
    console.log(name)
  }
}

/** The content of each file by its path in the repository. */
export async function schemaFiles(): Promise<Readonly<Record<string, string>>> {
  const entries = Object.entries({ ...editorSchemas(), openapi: await openapiDocument() })
  const schemas = entries.map(([name, schema]) => [
    `runtime/schemas/${name}.json`,
    `${JSON.stringify(schema, null, 2)}\n`,
  ])
  const page = [
    'docs/reference/configuration.md',
    renderConfigurationPage(path.join(import.meta.dirname, '..')),
  ]
  return Object.fromEntries([...schemas, page])
}
