import JSONValues
import Sandbox
import Screens

/// The texts from which the contract is assembled (docs/contract-source.md): that of the server, and one for each app
/// with its routes. They are short, since everything that a route or its kind determines is derived.
struct ContractSources {
    /// One text.
    struct Source {
        /// The routes of an app; nil for the server, whose text declares them.
        let routes: [RouteDeclaration]?
        let content: JSONObject

        var isOfApp: Bool { routes != nil }

        func section(_ name: String) -> [JSONObject.Member] { content[name]?.object?.members ?? [] }
    }

    /// The text of the server, then those of the apps.
    let all: [Source]
    /// The problem codes of the program, in the order of the contract.
    let codes: [ProblemCode]
    /// Titles of the screens, for examples.
    let forms: ScreenForms
    /// Lists of values from the program, by their names in the texts.
    private let lists: [String: [String]]
    private let schemas: [String: JSONObject]

    /// - Throws: ``ContractDefect``.
    init(
        server: [String],
        apps: [(text: String, routes: [RouteDeclaration])],
        codes: [ProblemCode],
        forms: ScreenForms = ScreenForms(),
        lists: [String: [String]] = [:]
    )
        throws(ContractDefect)
    {
        var sources: [Source] = []
        for text in server { sources.append(try Self.source(text, routes: nil)) }
        for app in apps where !app.text.isEmpty { sources.append(try Self.source(app.text, routes: app.routes)) }
        all = sources
        (self.codes, self.forms) = (codes, forms)
        self.lists = lists.merging(["problems": codes.map(\.rawValue)]) { $1 }
        var schemas: [String: JSONObject] = [:]
        for member in sources.flatMap({ $0.section("schemas") }) {
            guard schemas.updateValue(member.value.object ?? JSONObject(), forKey: member.name) == nil else {
                throw ContractDefect("the schema \(member.name) is declared twice")
            }
        }
        self.schemas = schemas
    }

    private static func source(_ text: String, routes: [RouteDeclaration]?) throws(ContractDefect) -> Source {
        do {
            guard let content = try JSONValue(yaml: text).object else { throw ContractDefect("a text is no mapping") }
            return Source(routes: routes, content: content)
        } catch let defect as YAMLDefect {
            throw ContractDefect("\(text.prefix { $0 != "\n" }): \(defect)")
        } catch let defect as ContractDefect {
            throw defect
        } catch {
            throw ContractDefect("\(error)")
        }
    }

    /// Returns a part that only the server's text has: the document, the kinds of routes, or the fields of refusals.
    func shared(_ name: String) -> JSONObject { all.first?.content[name]?.object ?? JSONObject() }

    /// Returns a component that a text contains in its published form, or nearly so.
    func component(_ section: String, _ name: String) -> JSONObject? {
        all.lazy.compactMap { $0.content[section]?.object?[name]?.object }.first
    }

    /// Returns the list of values with a name.
    func list(_ name: String) throws(ContractDefect) -> JSONValue {
        guard let values = lists[name] else { throw ContractDefect("there is no list \(name)") }
        return .array(values.map { .string($0) })
    }

    func code(_ name: String) throws(ContractDefect) -> ProblemCode {
        guard let code = codes.first(where: { $0.rawValue == name }) else {
            throw ContractDefect("there is no problem \(name)")
        }
        return code
    }

    /// Returns the members of an object's schema, including those of the schemas in its `$like`. A member without a
    /// type has only the parts in which it differs from the member there.
    func members(ofSchema name: String) throws(ContractDefect) -> [JSONObject.Member] {
        guard let schema = schemas[name] else { throw ContractDefect("there is no schema \(name)") }
        var members = JSONObject()
        for other in schema["$like"].map({ $0.string.map { [$0] } ?? $0.strings }) ?? [] {
            for member in try self.members(ofSchema: other) { members[member.name] = member.value }
        }
        for member in schema.members where !member.name.hasPrefix("$") {
            guard let own = member.value.object, own["type"] == nil, var whole = members[member.name]?.object else {
                members[member.name] = member.value
                continue
            }
            for part in own.members { whole[part.name] = part.value }
            members[member.name] = .object(whole)
        }
        return members.members
    }

    func declaration(ofSchema name: String) -> JSONObject? { schemas[name] }

    /// Returns the schema of a screen's data; nil if a schema is not that of a screen.
    func data(ofScreen name: String) -> String? {
        if let data = schemas[name]?["$screen"]?.string { return data }
        return schemas[name] == nil && schemas[name + "Data"] != nil ? name + "Data" : nil
    }

    /// Returns the names of the screens with a schema: those of the routes whose GET responds with it.
    func screens(ofSchema name: String) -> [String] {
        all.flatMap { source in
            source.section("routes").compactMap { path -> String? in
                guard let read = path.value["get"], let response = read["returns"]?["200"],
                    response.string ?? response["screen"]?.string == name
                else { return nil }
                return read["screen"]?.string ?? source.routes?.first { $0.operation == "get \(path.name)" }?.screen
            }
        }
    }

    /// Whether a screen is a list, whose `meta` has the position of the page.
    func isList(_ data: String) -> Bool { schemas[data]?["$list"]?.bool == true }
}

/// Why a contract cannot be assembled.
struct ContractDefect: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension JSONValue {
    /// A reference to a component.
    static func reference(_ kind: String, _ name: String) -> JSONValue {
        ["$ref": .string("#/components/\(kind)/\(name)")]
    }
}
