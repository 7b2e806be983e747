import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite("Upstreams of OpenAPI documents")
struct OpenAPIStubTests {
    private static let document = """
        openapi: 3.1.0
        servers: [{url: https://api.example/v2}]
        paths:
          /today:
            get:
              parameters:
                - {name: city, in: query, required: true, schema: {type: string, minLength: 2}}
                - {name: days, in: query, schema: {type: integer, minimum: 1, maximum: 14}}
                - {name: X-Key, in: header, required: true, schema: {type: string}}
              responses:
                "404": {description: none, content: {application/json: {example: {code: none}}}}
                "200":
                  headers: {X-Left: {schema: {type: integer}, example: 59}}
                  content:
                    application/json:
                      examples: {warm: {value: {celsius: 21}}, cold: {$ref: '#/components/examples/Cold'}}
                    text/plain: {example: warm}
          /days/{day}:
            parameters: [{name: day, in: path, required: true, schema: {type: string, enum: [monday, sunday]}}]
            get: {responses: {default: {content: {application/json: {schema: {$ref: '#/components/schemas/Day'}}}}}}
          /days/latest:
            get: {responses: {"204": {description: nothing}}}
          /alerts:
            post:
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/Alert'}}}
              responses: {"201": {content: {application/json: {example: {id: 1}}}}}
            delete: {responses: {"204": {}}}
        components:
          examples: {Cold: {value: {celsius: -4}}}
          schemas:
            Day:
              type: object
              properties:
                at: {type: string, format: date-time}
                hours: {type: array, items: {$ref: '#/components/schemas/Hour'}}
                next: {$ref: '#/components/schemas/Day'}
            Hour: {type: object, properties: {celsius: {type: number, minimum: -90}, rain: {type: boolean}}}
            Alert:
              type: object
              additionalProperties: false
              required: [city, above]
              properties:
                city: {type: string}
                above: {type: integer, maximum: 60}
                ways: {type: array, items: {enum: [mail, push]}}
                note: {type: [string, "null"]}
        """

    private let stub: OpenAPIStub

    init() throws {
        stub = try OpenAPIStub(name: "weather", document: try JSONValue(yaml: Self.document))
    }

    private func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        _ headers: HTTPFields = [:],
        body: String = "",
        of other: OpenAPIStub? = nil
    )
        -> UpstreamResponse
    {
        let parts = RequestTarget(target)
        return (other ?? stub).respond(
            to: UpstreamRequest(
                method: method,
                path: parts.segments,
                query: parts.query,
                headers: headers,
                body: Array(body.utf8),
                origin: ""
            )
        )
    }

    private func text(_ response: UpstreamResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    private func errors(_ response: UpstreamResponse) throws -> [String] {
        let problem = try JSONParser.parse(response.body).object
        return (problem?["errors"]?.array ?? []).map { error in
            ["in", "name", "reason"].map { error.object?[$0]?.string ?? "" }.joined(separator: " ")
        }
    }

    private static func fields(_ values: [String: String]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in values {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    private let key = fields(["X-Key": "k"])

    @Test("HARN-24 an operation responds with its example, another one if preferred, in the type that is accepted")
    func examples() throws {
        #expect(
            stub.operations == ["GET /today", "GET /days/{day}", "GET /days/latest", "POST /alerts", "DELETE /alerts"]
        )
        let response = ask(.get, "/today?city=Oslo", key)
        #expect(response.status == .ok && text(response) == #"{"celsius":21}"#)
        let sent = Dictionary(uniqueKeysWithValues: response.headers.map { ($0.name.canonicalName, $0.value) })
        #expect(sent == ["content-type": "application/json", "x-left": "59"])
        let cold = Self.fields(["X-Key": "k", "Prefer": "example=cold"])
        #expect(text(ask(.get, "/today?city=Oslo", cold)) == #"{"celsius":-4}"#)
        let none = ask(.get, "/today?city=Oslo", Self.fields(["X-Key": "k", "Prefer": "code=404"]))
        #expect(none.status == .notFound && text(none) == #"{"code":"none"}"#)
        var plain = key
        plain[.accept] = "text/plain"
        #expect(text(ask(.get, "/today?city=Oslo", plain)) == "warm")
        #expect(ask(.head, "/today?city=Oslo", key).status == .ok)
    }

    @Test("HARN-24 without an example, a value is made that fits the schema, however often it contains itself")
    func made() throws {
        let response = ask(.get, "/days/monday")
        let value = try JSONParser.parse(response.body)
        #expect(value.object?["hours"] == [["celsius": -90, "rain": true]])
        #expect(value.object?["next"]?.object?["at"] == "2030-01-05T10:00:00Z")
        #expect(ask(.get, "/days/latest").status == .noContent)
    }

    @Test(
        "HARN-24 no preference and no bound of a schema ends the process",
        arguments: ["-5", "0", "100", "700", "99999", "99999999999999999999"]
    )
    func unreasonable(code: String) throws {
        let schema = #"{"type":"string","minLength":1000000000000000000000000000000}"#
        let responses = #"{"default":{"content":{"application/json":{"schema":\#(schema)}}}}"#
        let document = #"{"openapi":"3.0.0","paths":{"/a":{"get":{"responses":\#(responses)}}}}"#
        let other = try OpenAPIStub(name: "other", document: JSONParser.parse(Array(document.utf8)))
        let response = ask(.get, "/a", Self.fields(["Prefer": "code=\(code)"]), of: other)
        #expect(response.status == .ok && response.body.count == 1002)
    }

    @Test("HARN-24 what does not fit is refused with 404, 405 and 400, and everything that is wrong")
    func refusals() throws {
        #expect(ask(.get, "/tomorrow").status == .notFound)
        #expect(ask(.get, "/days/monday/1").status == .notFound)
        let method = ask(.put, "/alerts")
        #expect(method.status == .methodNotAllowed && method.headers[.allow] == "DELETE, POST")

        let empty = ask(.get, "/today")
        #expect(empty.status == .badRequest)
        #expect(try errors(empty) == ["query city it is missing", "header X-Key it is missing"])
        #expect(
            try errors(ask(.get, "/today?city=O&days=x", key)) == [
                "query city characters: at least 2", "query days it is no integer",
            ]
        )
        #expect(try errors(ask(.get, "/today?city=Oslo&days=15", key)) == ["query days accepted: at most 14"])
        #expect(try errors(ask(.get, "/days/friday")) == [#"path day accepted: "monday", "sunday""#])

        let json: HTTPFields = [.contentType: "application/json; charset=utf-8"]
        #expect(ask(.post, "/alerts", json, body: #"{"city":"Oslo","above":30,"note":null}"#).status == .created)
        #expect(try errors(ask(.post, "/alerts", json)) == ["body  it is missing"])
        let body = #"{"above":61.5,"ways":["mail","sms"],"extra":1,"note":2}"#
        #expect(
            try errors(ask(.post, "/alerts", json, body: body)) == [
                "body /city it is missing", "body /above it is no integer",
                #"body /ways/1 accepted: "mail", "push""#, "body /extra it is unknown",
                "body /note it is no string or null",
            ]
        )
        let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        #expect(
            try errors(ask(.post, "/alerts", form, body: "a=b")) == [
                "body  its type is application/x-www-form-urlencoded; accepted: application/json"
            ]
        )
        #expect(try errors(ask(.post, "/alerts", json, body: "{")).count == 1)
    }

    @Test(
        "HARN-24 what is no OpenAPI document is refused by its place",
        arguments: [
            ("{}", "/openapi"), ("openapi: 2.0", "/openapi"), ("openapi: 3.0.0", "/paths"),
            ("openapi: 3.0.0\npaths: {/a: {}}", "/paths"),
            ("openapi: 3.0.0\npaths: {/a/b: {get: 1}}", "/paths/~1a~1b/get"),
            ("openapi: 3.0.0\npaths: {/a: {get: {parameters: [{in: query}]}}}", "/paths/~1a/get/parameters"),
        ]
    )
    func defects(text: String, place: String) throws {
        let document = try JSONValue(yaml: text)
        do throws(OpenAPIDefect) {
            _ = try OpenAPIStub(name: "x", document: document)
            Issue.record("accepted: \(text)")
        } catch {
            #expect(error.place == place)
        }
    }
}
