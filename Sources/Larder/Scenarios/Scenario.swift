import HTTPTypes
import JSONValues
import Sandbox
import Yams

/// Steps on a server, and the expected responses.
struct Scenario: Sendable {
    let file: String
    let name: String
    let steps: [Step]

    struct Step: Sendable {
        /// From 1.
        let number: Int
        let line: Int
        /// A summary in a few words.
        let title: String
        let action: Action
    }

    enum Action: Sendable, Equatable {
        case request(Call)
        /// Calls of controls, one after the other. Each must succeed.
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
        /// Number of times that it is sent.
        var times = 1
        /// Number of requests that are sent at once.
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
    /// The differences, a line each.
    let lines: [String]

    init(_ lines: String...) { self.lines = lines }

    init(lines: [String]) { self.lines = lines }
}

extension Scenario {
    /// Largest file that is read, in bytes.
    static let largestFile = 16 << 20
    /// Largest number of requests of one step.
    static let mostRequests = 10_000
    /// Largest number of requests at once.
    static let mostParallel = 256

    /// Reads a scenario.
    ///
    /// - Parameter file: The name of the file in errors.
    /// - Throws: ``ScenarioSyntaxError``, with the line.
    init(yaml text: String, file: String) throws(ScenarioSyntaxError) {
        do throws(YAMLDefect) {
            self = try Self(text, file: file)
        } catch {
            throw ScenarioSyntaxError(file: file, line: error.line ?? 1, reason: error.reason)
        }
    }

    private init(_ text: String, file: String) throws(YAMLDefect) {
        guard let root = try YAMLText.root(of: text) else {
            throw YAMLDefect(line: nil, reason: "there is nothing in the file")
        }
        let members = try root.members("name", "steps")
        guard let list = members["steps"] else { throw root.error("'steps' is missing") }
        var steps: [Step] = []
        for (index, node) in try list.items().enumerated() {
            let action = try Self.action(node)
            steps.append(Step(number: index + 1, line: node.mark?.line ?? 1, title: action.title, action: action))
        }
        self.init(file: file, name: try members["name"]?.text() ?? file, steps: steps)
    }

    private static func action(_ node: Node) throws(YAMLDefect) -> Action {
        let members = try node.members("on", "do", "expect")
        switch (members["on"], members["do"], members["expect"]) {
        case (let event?, let action?, nil): return try rule(on: event, action)
        case (nil, let action?, nil): return try action.action()
        case (nil, nil, let expected?): return .expect(try ScenarioExpectation(expected))
        default: throw node.error("a step has 'do', 'expect', or 'on' with 'do'")
        }
    }

    /// Reads a step that is triggered by an event. It becomes a rule in the sandbox, so that the number of the request
    /// is exact.
    private static func rule(on event: Node, _ action: Node) throws(YAMLDefect) -> Action {
        let members = try event.members("request", "upstream", "nth", "query", "header", "body")
        guard let request = members["request"] else { throw event.error("'request' is missing: a path") }
        var match = JSONObject()
        let words = try request.text().split(separator: " ")
        switch words.count {
        case 1: match["path"] = .string(String(words[0]))
        case 2: (match["method"], match["path"]) = (.string(String(words[0])), .string(String(words[1])))
        default: throw request.error("'request' is a path, such as /v4/ships, or a method and a path")
        }
        for name in ["query", "header", "body"] { match[name] = try members[name]?.value() }
        let effect = try action.members("fault", "faults", "times")
        var rule = JSONObject([("match", .object(match))])
        for name in ["fault", "faults", "times"] { rule[name] = try effect[name]?.value() }
        guard (effect["fault"] == nil) != (effect["faults"] == nil) else {
            throw action.error("what happens on a request is a 'fault', or 'faults' in turn")
        }
        if let nth = try members["nth"]?.number(1...1_000_000), nth > 1 { rule["after"] = .integer(nth - 1) }
        return .rule(upstream: try members["upstream"]?.text(), .object(rule))
    }
}

extension Scenario.Action {
    /// A short description of the step.
    var title: String {
        switch self {
        case .request(let call): "\(call.method.rawValue) \(call.target)" + (call.times > 1 ? " × \(call.times)" : "")
        case .controls(let controls): controls.map { "\($0.method.rawValue) \($0.target)" }.joined(separator: ", ")
        case .rule(let upstream, let rule):
            "on \(rule.value(at: "/match/path")?.json ?? "a request")" + (upstream.map { " to \($0)" } ?? "")
        case .expect: "expect"
        }
    }
}

// The steps of a scenario file.
extension Node {
    /// Reads the value of `do`.
    fileprivate func action() throws(YAMLDefect) -> Scenario.Action {
        let members = try members(
            "request",
            "body",
            "headers",
            "token",
            "save",
            "times",
            "parallel",
            "control",
            "fault",
            "advance",
            "reset"
        )
        let kinds = ["request", "control", "fault", "advance", "reset"].filter { members[$0] != nil }
        guard kinds.count == 1, let kind = kinds.first, let node = members[kind] else {
            throw error("'do' has one of request, control, fault, advance, reset")
        }
        switch kind {
        case "request": return .request(try node.call(members))
        case "control":
            let (method, target) = try node.requestLine()
            return .controls([.init(method: method, target: target, body: try members["body"]?.value())])
        case "fault":
            var controls: [Scenario.Control] = []
            for (name, fault) in try node.members() {
                let target = "/_sandbox/upstreams/\(name)/fault"
                controls.append(.init(method: .put, target: target, body: ["fault": try fault.value()]))
            }
            return .controls(controls)
        case "advance":
            let body: JSONValue = ["s": try node.value()]
            return .controls([.init(method: .post, target: "/_harness/clock/advance", body: body)])
        default: return .controls([.init(method: .post, target: "/_harness/reset")])
        }
    }

    private func call(_ members: [String: Node]) throws(YAMLDefect) -> Scenario.Call {
        let (method, target) = try requestLine()
        var call = Scenario.Call(method: method, target: target)
        call.headers = try members["headers"]?.texts() ?? [:]
        if let token = members["token"] { call.headers["Authorization"] = "Bearer \(try token.text())" }
        call.saved = try members["save"]?.texts() ?? [:]
        call.body = try members["body"]?.value()
        call.times = try members["times"]?.number(1...Scenario.mostRequests) ?? 1
        call.parallel = try members["parallel"]?.number(1...Scenario.mostParallel) ?? 1
        return call
    }

    /// Reads `GET /v1/ships`.
    private func requestLine() throws(YAMLDefect) -> (HTTPRequest.Method, String) {
        let words = try text().split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, let method = HTTPRequest.Method(words[0]), words[1].hasPrefix("/") else {
            throw error("a method and a path are expected here, such as GET /v1/ships")
        }
        return (method, words[1])
    }
}

/// A file that is no scenario.
struct ScenarioSyntaxError: Error, CustomStringConvertible, Equatable {
    let file: String
    let line: Int
    let reason: String

    var description: String { "\(file):\(line): \(reason)" }
}

// The parts of a scenario file, and its faults with their lines.
extension Node {
    func error(_ reason: String) -> YAMLDefect { YAMLDefect(line: mark?.line, reason: reason) }

    /// Returns the members of a mapping, in their order.
    func members() throws(YAMLDefect) -> [(name: String, value: Node)] {
        guard let mapping else { throw error("a mapping is expected here") }
        var members: [(name: String, value: Node)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else { throw error("the name of a member is a text") }
            members.append((name, value))
        }
        return members
    }

    /// Returns the members by name.
    ///
    /// - Parameter known: The permitted names.
    func members(_ known: String...) throws(YAMLDefect) -> [String: Node] {
        var found: [String: Node] = [:]
        for (name, value) in try members() {
            guard known.contains(name) else {
                throw value.error("there is no '\(name)' here; known: \(known.joined(separator: ", "))")
            }
            found[name] = value
        }
        return found
    }

    /// Returns the members, whose values are texts.
    func texts() throws(YAMLDefect) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in try members() { texts[name] = try value.text() }
        return texts
    }

    func items() throws(YAMLDefect) -> [Node] {
        guard let sequence else { throw error("a list is expected here") }
        return Array(sequence)
    }

    func text() throws(YAMLDefect) -> String {
        guard let text = scalar?.string, !text.isEmpty else { throw error("a text is expected here") }
        return text
    }

    func number(_ range: ClosedRange<Int>) throws(YAMLDefect) -> Int {
        guard let number = scalar.flatMap({ Int($0.string) }), range.contains(number) else {
            throw error("a number \(range.lowerBound)…\(range.upperBound) is expected here")
        }
        return number
    }

    func value() throws(YAMLDefect) -> JSONValue { try JSONValue(self) }
}

extension JSONValue {
    /// Returns the value with the names in its texts replaced.
    func filled(with replace: (String) throws(ScenarioFailure) -> String) throws(ScenarioFailure) -> JSONValue {
        switch self {
        case .string(let text): return .string(try replace(text))
        case .array(let items):
            var filled: [JSONValue] = []
            for item in items { filled.append(try item.filled(with: replace)) }
            return .array(filled)
        case .object(var object):
            for index in object.members.indices {
                object.members[index].value = try object.members[index].value.filled(with: replace)
            }
            return .object(object)
        case .null, .bool, .number: return self
        }
    }
}
