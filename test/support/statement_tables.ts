/** A use of a table in a statement, and whether the use is bound to a tenant. */
export interface TableUse {
  table: string;
  bound: boolean;
}

const USE = /\b(from|join|update|into)\s+"?([a-z_]+)"?(?:\s+(?:as\s+)?"?([a-z]\w*)"?)?/gi;
/** Words that follow a table's name where it has no alias. */
const NO_ALIAS =
  /^(set|where|on|order|for|limit|group|inner|left|join|cross|values|default|using|returning|union|skip)$/i;

/** A tenant given from outside: a parameter, or a member of what was passed as JSON. */
const GIVEN_TENANT =
  /tenant_id"? (= \$\d|in \()|tenant_id"?(, [^()]*)?\) in \(|tenant_id"? = r\.(tenant|"tenantId")/i;

/**
 * The uses of `tables` in a statement of ours. A use is bound when the table, by the name it has there, is compared
 * on `tenant_id` and somewhere a tenant was given, or when what is inserted names the column. No parser of SQL: it reads the forms that this
 * project's statements have, and takes whatever it does not know for unbound.
 */
export function findTableUses(statement: string, tables: readonly string[]): TableUse[] {
  const text = statement.replaceAll(/\s+/g, ' ');
  const given = GIVEN_TENANT.test(text);
  return [...text.matchAll(USE)].flatMap((use) => {
    const [, verb = '', table = '', next = ''] = use;
    if (!tables.includes(table)) return [];
    if (verb.toLowerCase() === 'into') {
      const columns = /^[^(]*\(([^)]*)\)/.exec(text.slice(use.index))?.[1] ?? '';
      return [{ table, bound: /\btenant_id\b/.test(columns) }];
    }
    const rest = text.slice(use.index);
    const name = next === '' || NO_ALIAS.test(next) ? table : next;
    return [{ table, bound: given && (isCompared(text, name) || isComparedBare(rest, table, name)) }];
  });
}

/** `a.tenant_id = …`, `… = a.tenant_id`, `a.tenant_id in (…)`, `(a.tenant_id, …) in (…)`. */
function isCompared(text: string, name: string): boolean {
  const column = `"?\\b${name}"?\\."?tenant_id"?`;
  return new RegExp(`${column} (=|in) |= ${column}(?![\\w.])|\\(${column}(, [^()]*)?\\) in \\(`, 'i').test(
    text,
  );
}

/** `from tenants where tenant_id = …`: the column's bare name, where no other table comes between. */
function isComparedBare(rest: string, table: string, name: string): boolean {
  if (name !== table) return false;
  return /^\w+ "?\w+"? (set [^()]* )?where "?tenant_id"? = /i.test(rest);
}
