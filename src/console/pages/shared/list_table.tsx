import type { Child } from 'hono/jsx';

/** A table of rows that each stand for one thing; `children` are its rows. */
export function ListTable({
  caption,
  columns,
  children,
}: {
  caption: string;
  columns: readonly string[];
  children: Child;
}) {
  return (
    <div class="table-scroll">
      <table class="list">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col">{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
