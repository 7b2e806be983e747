import HTTPTypes
import Sandbox

/// What is done to a server, step by step, and what is expected of it.
struct Scenario: Sendable {
    /// The name of its file.
    let file: String
    let name: String
    let steps: [Step]

    /// One step.
    struct Step: Sendable {
        /// From 1.
        let number: Int
        let line: Int
        /// What it does, in a few words.
        let title: String
        let action: Action
    }

    /// What a step does.
    enum Action: Sendable, Equatable {
        case request(Call)
        /// Calls of controls, one after the other; each has to succeed.
        case controls([Control])
        /// A rule for requests to one upstream, or to each of them.
        case rule(upstream: String?, JSONValue)
        case expect(ScenarioExpectation)
    }

    /// Requests to a route of an app.
    struct Call: Sendable, Equatable {
        let method: HTTPRequest.Method
        /// Path and query.
        let target: String
        var headers: [String: String] = [:]
        var body: JSONValue?
        /// Names of values in the response, with their JSON pointers.
        var saved: [String: String] = [:]
        /// How often it is sent.
        var times = 1
        /// How many are sent at once.
        var parallel = 1
    }

    /// A call of a control.
    struct Control: Sendable, Equatable {
        let method: HTTPRequest.Method
        let target: String
        var body: JSONValue?
    }
}

/// Why a step failed.
struct ScenarioFailure: Error, Equatable {
    /// What is different, a line each.
    let lines: [String]

    init(_ lines: String...) { self.lines = lines }

    init(lines: [String]) { self.lines = lines }
}
