/** Short names for the shapes of the API, which are generated from its OpenAPI document. */
import type { Readable } from "openapi-typescript-helpers";

import type { components } from "./schema";

type Schemas = components["schemas"];

export type SessionInfo = Schemas["SessionInfo"];
export type Overview = Schemas["Overview"];
export type InstanceLoad = Schemas["InstanceLoad"];
export type AgentAtWork = Schemas["AgentAtWork"];
export type TeamSummary = Schemas["TeamSummary"];
export type TeamDetail = Schemas["TeamDetail"];
export type TurnSummary = Schemas["TurnSummary"];
export type TurnDetail = Schemas["TurnDetail"];
export type TraceAgent = Schemas["TraceAgent"];
export type WhyRecord = Schemas["WhyRecord"];
export type BlackboardDetail = Schemas["BlackboardDetail"];
export type SectionVersionView = Schemas["SectionVersionView"];
export type Correction = Schemas["Correction"];
export type CommitmentView = Schemas["CommitmentView"];
export type CalibrationView = Schemas["CalibrationView"];
export type BuildSummary = Schemas["BuildSummary"];
export type BuildDetail = Schemas["BuildDetail"];
export type AgentRow = Schemas["AgentRow"];
export type AgentDetail = Schemas["AgentDetail"];
export type AgentTool = Schemas["AgentTool"];
export type DeviceList = Schemas["DeviceList"];
/** As the client gives it: it reads the tuples of a document as arrays. */
export type PlanDocument = Readable<Schemas["PlanDocument"]>;
export type PlanInstance = PlanDocument["instances"][number];
export type PlanDevice = Schemas["PlanDevice"];
export type ModelFile = Schemas["ModelFile"];
export type CatalogModel = Schemas["CatalogModel"];
export type KeyRow = Schemas["KeyRow"];
export type Settings = Schemas["Settings"];
export type StreamEvent = Schemas["StreamEvent"];
export type TalkEvent = Schemas["TalkEvent"];
export type AgentNeeds = Schemas["AgentNeeds"];
export type PlanRequest = Schemas["PlanRequest"];
