/** What policy knows of an operation, under the names that policies read in `context.tool`. */
export interface ToolFacts {
  registered: boolean;
  mutates_state: boolean;
  idempotent: boolean;
  destructive: boolean;
  requires_approval: boolean;
}

/** What nobody registered might do anything. */
export const UNREGISTERED_FACTS: ToolFacts = {
  registered: false,
  mutates_state: true,
  idempotent: false,
  destructive: true,
  requires_approval: true,
};

/** The action group of everything that runs commands. */
export const COMMAND_GROUP = 'command';

/** The action groups that facts put an operation in. */
export function actionGroupsOf(
  facts: { mutates_state: boolean; destructive: boolean },
  isCommand: boolean,
): string[] {
  return [
    facts.mutates_state ? 'write' : 'read',
    ...(facts.destructive ? ['destroy'] : []),
    ...(isCommand ? [COMMAND_GROUP] : []),
    'invoke',
  ];
}
