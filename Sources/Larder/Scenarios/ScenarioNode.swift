import Sandbox
import Yams

/// A file that is no scenario.
struct ScenarioSyntaxError: Error, CustomStringConvertible, Equatable {
    let file: String
    let line: Int
    let reason: String

    var description: String { "\(file):\(line): \(reason)" }
}

/// A place in the file of a scenario.
struct ScenarioNode {
    let node: Node
    let file: String

    /// Reads the root of a file.
    static func root(_ text: String, file: String) throws(ScenarioSyntaxError) -> ScenarioNode {
        let root: Node?
        do throws(YAMLDefect) {
            root = try YAMLText.root(of: text)
        } catch {
            throw ScenarioSyntaxError(file: file, line: error.line ?? 1, reason: error.reason)
        }
        guard let root else { throw ScenarioSyntaxError(file: file, line: 1, reason: "there is nothing in the file") }
        return ScenarioNode(node: root, file: file)
    }

    var line: Int { node.mark?.line ?? 1 }

    func error(_ reason: String) -> ScenarioSyntaxError { ScenarioSyntaxError(file: file, line: line, reason: reason) }

    /// Returns the members of a mapping, in their order.
    func members() throws(ScenarioSyntaxError) -> [(name: String, value: ScenarioNode)] {
        guard let mapping = node.mapping else { throw error("a mapping is expected here") }
        var members: [(name: String, value: ScenarioNode)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string else { throw error("the name of a member is a text") }
            members.append((name, ScenarioNode(node: value, file: file)))
        }
        return members
    }

    /// Returns the members by name.
    ///
    /// - Parameter known: The names that may be there.
    func members(_ known: String...) throws(ScenarioSyntaxError) -> [String: ScenarioNode] {
        var found: [String: ScenarioNode] = [:]
        for (name, value) in try members() {
            guard known.contains(name) else {
                throw value.error("there is no '\(name)' here; known: \(known.joined(separator: ", "))")
            }
            found[name] = value
        }
        return found
    }

    /// Returns the members, whose values are texts.
    func texts() throws(ScenarioSyntaxError) -> [String: String] {
        var texts: [String: String] = [:]
        for (name, value) in try members() { texts[name] = try value.text() }
        return texts
    }

    func items() throws(ScenarioSyntaxError) -> [ScenarioNode] {
        guard let sequence = node.sequence else { throw error("a list is expected here") }
        return sequence.map { ScenarioNode(node: $0, file: file) }
    }

    func text() throws(ScenarioSyntaxError) -> String {
        guard let text = node.scalar?.string, !text.isEmpty else { throw error("a text is expected here") }
        return text
    }

    func number(_ range: ClosedRange<Int>) throws(ScenarioSyntaxError) -> Int {
        guard let number = node.scalar.flatMap({ Int($0.string) }), range.contains(number) else {
            throw error("a number \(range.lowerBound)…\(range.upperBound) is expected here")
        }
        return number
    }

    /// Returns what it is as JSON.
    func value() throws(ScenarioSyntaxError) -> JSONValue {
        do throws(YAMLDefect) {
            return try JSONValue(node)
        } catch {
            throw ScenarioSyntaxError(file: file, line: error.line ?? line, reason: error.reason)
        }
    }
}
