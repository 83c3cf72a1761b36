/**
 * The schema: numbered migrations, each of which only adds. They are applied in one transaction under an advisory lock, so any
 * number of nodes may start at one time. A node of one version serves the schema of the next one too, and refuses later ones.
 */

import { StoreError } from '../port.ts'
import { grants, type Link, stateOf, type Transaction, unavailable } from './connection.ts'
import { migrations, tables } from './migrations.ts'

/** Any number that no other application uses for its advisory locks. */
const migrationLock = 7_350_914_201

/**
 * Brings the database to the newest schema. `steps` are the migrations that this version knows.
 * @throws StoreError `SCHEMA_NEWER` for the schema of a version after the next one
 */
export async function migrate(link: Link, steps: readonly string[] = migrations): Promise<void> {
  const known = await schemaOf(link)
  if (known > steps.length + 1) {
    throw new StoreError(
      'SCHEMA_NEWER',
      `the database has schema ${known}, this version knows schemas up to ${steps.length} and serves ${steps.length + 1}: start the newer version`,
    )
  }
  if (known === steps.length) return
  try {
    await link.transact((tx) => apply(tx, steps))
  } catch (error) {
    if (known === 0 || stateOf(error) !== '42501') throw error
    throw unavailable('the tables are those of an earlier version, and this role may not change them', {
      cause: error,
      fix: 'Start one node of this version as the owner of the tables.',
    })
  }
}

/** Returns 0 for a database without the store. */
async function schemaOf({ query }: Pick<Transaction, 'query'>): Promise<number> {
  const [there] = await query<{ there: boolean }>(`SELECT to_regclass('reveille.meta') IS NOT NULL AS there`)
  if (!there?.there) return 0
  const [row] = await query<{ schema: number }>('SELECT schema FROM reveille.meta')
  return row?.schema ?? 0
}

async function apply(tx: Transaction, steps: readonly string[]): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [migrationLock])
  const before = await schemaOf(tx)
  if (before === 0) {
    const [{ may } = { may: false }] = await tx.query<{ may: boolean }>(
      `SELECT has_database_privilege(current_database(), 'CREATE') AS may`,
    )
    if (!may)
      throw unavailable('the database has no store yet, and this role may not make one', {
        fix: 'Start one node as the owner of the database, or GRANT CREATE ON DATABASE to this role.',
      })
    await tx.query('CREATE SCHEMA IF NOT EXISTS reveille')
    await tx.query(
      'CREATE TABLE IF NOT EXISTS reveille.meta (one int PRIMARY KEY CHECK (one = 1), schema int NOT NULL)',
    )
    await tx.query('INSERT INTO reveille.meta VALUES (1, 0) ON CONFLICT DO NOTHING')
  }
  for (const step of steps.slice(before)) {
    for (const statement of step.split(';'))
      if (statement.trim() !== '') await tx.query(qualifiedDefinition(statement))
  }
  await tx.query('UPDATE reveille.meta SET schema = greatest(schema, $1)', [steps.length])
}

/** Puts the schema before the names of a definition. */
function qualifiedDefinition(sql: string): string {
  return sql
    .replace(/(CREATE TABLE |ALTER TABLE )(\w+)/g, '$1reveille.$2')
    .replace(/( ON )(\w+)( \(| USING)/g, '$1reveille.$2$3')
}

/** @throws StoreError which names the privileges that the role lacks */
export async function checkPrivileges({ query }: Link): Promise<void> {
  const rows = await query<{ privilege: string; name: string }>(
    `SELECT privilege, name FROM unnest($1::text[]) AS name
     CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
     WHERE NOT has_table_privilege('reveille.' || name, privilege)`,
    [tables],
  )
  const [first] = rows
  if (first === undefined) return
  throw unavailable(
    `the database role lacks ${first.privilege} on reveille.${first.name}${rows.length > 1 ? ` and ${rows.length - 1} more` : ''}`,
    { fix: grants },
  )
}
