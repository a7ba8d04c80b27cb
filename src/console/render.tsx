import type { Assets } from './assets.ts';
import { Layout, type LayoutProps } from './layout.tsx';

/** What every page is rendered with. */
export type PageProps = Omit<LayoutProps, 'asset' | 'children' | 'scripts'> & {
  body: LayoutProps['children'];
  status: number;
  scripts?: readonly string[];
};

/** A whole page as a response. */
export async function renderPage(
  assets: Assets,
  { body, status, scripts, ...props }: PageProps,
): Promise<Response> {
  const page = await (
    <Layout {...props} scripts={scripts ?? []} asset={assets.url}>
      {body}
    </Layout>
  );
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
  return new Response(`<!doctype html>${page}`, { status, headers });
}
