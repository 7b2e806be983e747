import Foundation
import TestKit
import Testing

@Suite("Request bodies")
struct RequestBodyTests {
    static let logins = [
        #"{"mode":"guest"}"#, #"{"mode":"guest","username":"anything"}"#,
        #"{"mode":"login","username":"a@b.c","password":"x"}"#,
        #"{"mode":"login","username":" first.last@mail.example.com ","password":" "}"#,
        #"{"mode":"login","username":"a@b.c","password":""}"#,
        #"{"mode":"login","username":"a@b","password":"x"}"#, #"{"mode":"login","username":"a@b..c","password":"x"}"#,
        #"{"mode":"login","username":"a@b@c.d","password":"x"}"#, #"{"mode":"login","username":"@b.c","password":"x"}"#,
        #"{"mode":"login","username":"a b@c.d","password":"x"}"#, #"{"mode":"login","username":"a@b.c."}"#,
        #"{"mode":"login"}"#,
        #"{"mode":"login","username":null,"password":"x"}"#, #"{"mode":"login","username":"a@b.c","password":1}"#,
        #"{"mode":"Guest"}"#, #"{}"#,
        #"{"mode":null}"#, "[]", #""guest""#,
    ]
    static let restores = [
        #"{}"#, #"{"ids":null}"#, #"{"ids":[]}"#, #"{"ids":"all"}"#, #"{"ids":[1]}"#, #"{"ids":[null]}"#,
        #"{"other":1}"#, #"{"ids":null,"id":[]}"#, "[]", "1",
    ]

    static let welcomes = [
        #"{"seen":true}"#, #"{"seen":false,"other":1}"#, #"{}"#, #"{"seen":null}"#, #"{"seen":1}"#, #"{"seen":"true"}"#,
        "[]", "true",
    ]

    @Test(
        "SRV-02 The server takes exactly the bodies that conform to their schema",
        arguments: [
            ("POST /v1/ships/session", logins), ("POST /v1/ships/restore", restores), ("PUT /v1/pdf/welcome", welcomes),
        ]
    )
    func bodies(key: String, bodies: [String]) async throws {
        let document = try OpenAPIDocument.load()
        let schema = try #require(
            document.operation(key)?.value["requestBody"]?["content"]?["application/json"]?["schema"]
        )
        try await withLarder { larder in
            let interview = ContractScenario(larder: larder, transcript: RecordedExchanges())
            let member = try await interview.session()
            for body in bodies {
                let conforms = try document.validator.violations(
                    of: try JSON(Data(body.utf8)),
                    schema: schema
                ).isEmpty
                let response = try await interview.ask(key, member, body: body)
                #expect(
                    (200..<300).contains(response.status) == conforms,
                    "\(body): \(response.status), schema \(conforms)"
                )
            }
        }
    }
}
