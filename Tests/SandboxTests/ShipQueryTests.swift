import JSONValues
import Testing

@testable import Sandbox

@Suite struct ShipQueryTests {
    /// Five ships that differ in every respect that a query looks at.
    private static let fleet = #"""
        [{"name":"b","active":true,"roles":["Tug","Barge"],"year_built":2010.0,"image":null,"id":"1"},
         {"name":"a","active":false,"roles":["Tug"],"year_built":1999,"image":"x","id":"2"},
         {"name":"C","active":true,"roles":[],"year_built":null,"image":"y","id":"3"},
         {"name":"a","active":true,"roles":["Barge"],"year_built":2020,"id":"4"},
         {"name":"é","active":true,"roles":["Tug"],"year_built":2010,"image":"z","id":"5"}]
        """#

    private func page(_ body: String) throws -> JSONObject {
        let ships = try #require(try JSONParser.parse(Array(Self.fleet.utf8)).array).compactMap(\.object)
        return try #require(try ShipQuery(body: Array(body.utf8)).page(of: ships).object)
    }

    private func ids(_ body: String) throws -> String {
        try #require(try page(body)["docs"]?.array).compactMap { $0.object?["id"]?.string }.joined()
    }

    @Test(
        "filters take the ships that MongoDB would",
        arguments: [
            (#"{}"#, "12345"), (#"{"active":true}"#, "1345"), (#"{"roles":"Tug"}"#, "125"),
            (#"{"roles":["Tug"]}"#, "25"), (#"{"year_built":2010}"#, "15"),
            (#"{"image":null}"#, "14"), (#"{"no_field":1}"#, ""), (#"{"no_field":{"deep":1}}"#, ""),
            (#"{"active":true,"roles":"Barge"}"#, "14"),
            (#"{"year_built":{"$gte":2010}}"#, "145"), (#"{"year_built":{"$gt":1999,"$lt":2020}}"#, "15"),
            (#"{"year_built":{"$lte":1999}}"#, "2"),
            (#"{"name":{"$in":["a","C"]}}"#, "234"), (#"{"name":{"$nin":["a","C"]}}"#, "15"),
            (#"{"active":{"$ne":true}}"#, "2"),
            (#"{"name":{"$gt":"a"}}"#, "15"),
            (#"{"year_built":{"$gt":"a"}}"#, ""), (#"{"name":{"$eq":"é"}}"#, "5"),
        ]
    )
    func filters(query: String, expected: String) throws {
        #expect(try ids(#"{"query":\#(query)}"#) == expected)
    }

    @Test(
        "ships are sorted by kind, then value, then their place",
        arguments: [
            (#""name""#, "32415"), (#""-name""#, "51243"), (#"{"name":1,"year_built":-1}"#, "34215"),
            (#"{"year_built":"desc"}"#, "41523"),
            (#""year_built -name""#, "32514"),
            (#"{"active":1}"#, "21345"), (#""nothing""#, "12345"),
        ]
    )
    func sorting(sort: String, expected: String) throws {
        #expect(try ids(#"{"options":{"sort":\#(sort)}}"#) == expected)
    }

    @Test(
        "select keeps the order of keys and the id",
        arguments: [
            (#""name""#, #"{"name":"b","id":"1"}"#), (#""year_built name -id""#, #"{"name":"b","year_built":2010.0}"#),
            (#""-roles -image -_id""#, #"{"name":"b","active":true,"year_built":2010.0}"#),
            (#"{"active":1}"#, #"{"active":true,"id":"1"}"#),
        ]
    )
    func selection(select: String, expected: String) throws {
        let docs = try #require(try page(#"{"options":{"limit":1,"select":\#(select)}}"#)["docs"]?.array)
        #expect(String(decoding: docs[0].serialized(), as: UTF8.self) == expected)
    }

    @Test(
        "the page object has the recorded keys in the recorded order",
        arguments: [
            (
                #"{"query":{"name":"none"}}"#,
                #"{"docs":[],"totalDocs":0,"offset":0,"limit":10,"totalPages":1,"page":1,"#
                    + #""pagingCounter":1,"hasPrevPage":false,"hasNextPage":false,"prevPage":null,"nextPage":null}"#
            ),
            (
                #"{"options":{"limit":2,"select":"id"}}"#,
                #"{"docs":[{"id":"1"},{"id":"2"}],"totalDocs":5,"offset":0,"limit":2,"totalPages":3,"page":1,"#
                    + #""pagingCounter":1,"hasPrevPage":false,"hasNextPage":true,"prevPage":null,"nextPage":2}"#
            ),
            (
                #"{"options":{"limit":2,"page":3,"select":"id"}}"#,
                #"{"docs":[{"id":"5"}],"totalDocs":5,"limit":2,"totalPages":3,"page":3,"#
                    + #""pagingCounter":5,"hasPrevPage":true,"hasNextPage":false,"prevPage":2,"nextPage":null}"#
            ),
            (
                #"{"options":{"limit":2,"offset":1,"select":"id"}}"#,
                #"{"docs":[{"id":"2"},{"id":"3"}],"totalDocs":5,"offset":1,"limit":2,"totalPages":3,"page":1,"#
                    + #""pagingCounter":1,"hasPrevPage":true,"hasNextPage":true,"prevPage":1,"nextPage":2}"#
            ),
            (
                #"{"options":{"pagination":false,"limit":1,"select":"id"}}"#,
                #"{"docs":[{"id":"1"},{"id":"2"},{"id":"3"},{"id":"4"},{"id":"5"}],"totalDocs":5,"#
                    + #""offset":0,"limit":5,"totalPages":1,"page":1,"#
                    + #""pagingCounter":1,"hasPrevPage":false,"hasNextPage":false,"prevPage":null,"nextPage":null}"#
            ),
            (
                #"{"options":{"limit":0}}"#,
                #"{"docs":[],"totalDocs":5,"offset":0,"limit":0,"totalPages":1,"page":1,"#
                    + #""pagingCounter":1,"hasPrevPage":false,"hasNextPage":false,"prevPage":null,"nextPage":null}"#
            ),
        ]
    )
    func pageObject(body: String, expected: String) throws {
        #expect(String(decoding: JSONValue.object(try page(body)).serialized(), as: UTF8.self) == expected)
    }

    @Test("an empty body is an empty query")
    func emptyBody() throws {
        #expect(try ids("") == "12345")
    }

    @Test(
        "absurd numbers end in an empty page, not in an overflow",
        arguments: ["1e300", "-1e300", "9223372036854775807", "\"7e99\""]
    )
    func absurdNumbers(number: String) throws {
        #expect(try page(#"{"options":{"limit":\#(number),"page":\#(number)}}"#)["totalDocs"] == 5)
        #expect(try page(#"{"options":{"limit":\#(number),"offset":\#(number)}}"#)["totalDocs"] == 5)
    }

    @Test(
        "what is malformed or not simulated is refused, not ignored",
        arguments: [
            "[]", "{", #"{"query":1}"#, #"{"options":1}"#, #"{"query":{"$text":{"$search":"GO"}}}"#,
            #"{"query":{"name":{"$regex":"a"}}}"#,
            #"{"query":{"name":{"$in":1}}}"#,
            #"{"options":{"populate":["launches"]}}"#, #"{"options":{"sort":{"name":2}}}"#, #"{"options":{"sort":1}}"#,
            #"{"options":{"select":"name -image"}}"#,
            #"{"options":{"select":1}}"#, #"{"options":{"select":{"name":"x"}}}"#,
        ]
    )
    func refused(body: String) {
        #expect(throws: ShipQueryError.self) { try ShipQuery(body: Array(body.utf8)) }
    }
}
