import { chat } from "./messages/chat";
import { engineering } from "./messages/engineering";
import { frame } from "./messages/frame";
import { keys } from "./messages/keys";
import { models } from "./messages/models";
import { overview } from "./messages/overview";
import { ownData } from "./messages/own_data";
import { plan } from "./messages/plan";
import { settings } from "./messages/settings";
import { teams } from "./messages/teams";

/** All messages of the pages, by language. */
export const CATALOGS = {
  en: {
    ...frame.en,
    ...overview.en,
    ...teams.en,
    ...chat.en,
    ...ownData.en,
    ...engineering.en,
    ...plan.en,
    ...models.en,
    ...keys.en,
    ...settings.en,
  },
  pt: {
    ...frame.pt,
    ...overview.pt,
    ...teams.pt,
    ...chat.pt,
    ...ownData.pt,
    ...engineering.pt,
    ...plan.pt,
    ...models.pt,
    ...keys.pt,
    ...settings.pt,
  },
};

export type Language = keyof typeof CATALOGS;

/** The name of a message. */
export type Message = keyof typeof CATALOGS.en;
