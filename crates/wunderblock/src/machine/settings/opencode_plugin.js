// This file belongs to wunderblock, which replaces it when it is installed again. `wunderblock init --undo opencode`
// removes it.
//
// OpenCode calls the functions below at its events. Each of them starts the program, writes the event to its standard
// input as JSON, and takes in its answer. An error, a timeout or an answer that is not JSON changes nothing.

import { spawn } from "node:child_process"

const PROGRAM = {program}
const OPTIONS = {options}
const RUNS_COMMANDS = {runs_commands}
const TIMEOUT_MS = 5000

// Calls of the program that have not ended. A program that once took too long is not waited for again.
const pending = new Set()
let isSlow = false

const start = (message) =>
  new Promise((resolve) => {
    try {
      const child = spawn(PROGRAM, ["hook", "opencode", ...OPTIONS], { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => {
        isSlow = true
        resolve({})
        child.kill("SIGKILL")
      }, TIMEOUT_MS)
      const end = (answer) => {
        clearTimeout(timer)
        resolve(answer)
      }
      let answer = ""
      child.on("error", () => end({}))
      child.on("close", () => {
        try {
          end(JSON.parse(answer).hookSpecificOutput ?? {})
        } catch {
          end({})
        }
      })
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (text) => (answer += text))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(message))
    } catch {
      resolve({})
    }
  })

const ask = (message) => {
  if (isSlow && pending.size > 0) return {}
  const call = start(message).finally(() => pending.delete(call))
  pending.add(call)
  return isSlow ? {} : call
}

export const Wunderblock = async ({ directory }) => {
  // Calls that run, by their id: when they began. Questions that wait for the user, by their id: what they are about.
  const began = new Map()
  const questions = new Map()
  // Sessions of sub-agents, and sessions that have had a prompt.
  const inner = new Set()
  const prompted = new Set()

  const send = (name, session, fields) =>
    ask({
      hook_event_name: name,
      session_id: session,
      agent_id: inner.has(session) ? session : undefined,
      cwd: directory,
      ...fields,
    })

  const events = {
    "session.created": ({ info }) => {
      if (!info.parentID) return send("session.created", info.id)
      inner.add(info.id)
      return send("session.created", info.parentID, { agent_id: info.id, agent_type: info.agent ?? info.title })
    },
    "session.deleted": ({ info }) => send("session.deleted", info.id, { reason: "deleted" }),
    "session.idle": ({ sessionID }) => send("session.idle", sessionID),
    "session.compacted": ({ sessionID }) => send("session.compacted", sessionID),
    "session.error": ({ sessionID, error }) =>
      send("session.error", sessionID, { error: error?.name, error_details: error?.data?.message }),
    "permission.asked": ({ id, permission, tool }) =>
      questions.set(id, { tool_name: permission, tool_use_id: tool?.callID }),
    "permission.updated": ({ id, type, callID }) => questions.set(id, { tool_name: type, tool_use_id: callID }),
    "permission.replied": (reply) => {
      const id = reply.requestID ?? reply.permissionID
      const response = reply.reply ?? reply.response
      const question = questions.get(id)
      questions.delete(id)
      if (response === "reject") return send("permission.replied", reply.sessionID, { response, ...question })
    },
  }

  return {
    // OpenCode waits for this before it ends, so that the last message of a run is stored.
    dispose: async () => {
      await Promise.allSettled(pending)
    },

    event: async ({ event }) => {
      try {
        await events[event.type]?.(event.properties)
      } catch {}
    },

    "chat.message": async (input, output) => {
      try {
        const text = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        const used = input.model ?? output.message.model
        const model = used ? `${used.providerID}/${used.modelID}` : undefined
        const prompt = text.map((part) => part.text).join("\n")
        const begins = !prompted.has(input.sessionID)
        prompted.add(input.sessionID)
        const { additionalContext } = await send("chat.message", input.sessionID, { prompt, model, begins })
        const last = output.parts.at(-1)
        if (!additionalContext || !last) return
        // Parts are shown in the order of their ids.
        const part = { id: last.id + "0", sessionID: last.sessionID, messageID: last.messageID }
        output.parts.push({ ...part, type: "text", text: additionalContext, synthetic: true })
      } catch {}
    },

    "tool.execute.before": async (input, output) => {
      try {
        if (input.tool !== "task" && !(RUNS_COMMANDS && input.tool === "bash")) return
        const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args }
        const { updatedInput } = await send("tool.execute.before", input.sessionID, call)
        if (updatedInput) Object.assign(output.args, updatedInput)
      } catch {
      } finally {
        began.set(input.callID, Date.now())
      }
    },

    "tool.execute.after": async (input, output) => {
      try {
        const since = began.get(input.callID)
        began.delete(input.callID)
        const { additionalContext } = await send("tool.execute.after", input.sessionID, {
          tool_name: input.tool,
          tool_use_id: input.callID,
          tool_input: input.args,
          tool_response: output.output ?? output.content,
          duration_ms: since === undefined ? undefined : Date.now() - since,
        })
        if (additionalContext && typeof output.output === "string") output.output += "\n\n" + additionalContext
      } catch {}
    },

    "experimental.session.compacting": async (input, output) => {
      try {
        const { additionalContext } = await send("experimental.session.compacting", input.sessionID)
        if (additionalContext) output.context.push(additionalContext)
      } catch {}
    },
  }
}
