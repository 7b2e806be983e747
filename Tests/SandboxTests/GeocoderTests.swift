import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct GeocoderTests {
    private func response(_ target: String) -> UpstreamResponse { Geocoder().response(.get, target) }

    private func names(_ target: String) throws -> [String?] {
        let features = try #require(try JSONParser.parse(response(target).body).object?["features"]?.array)
        return features.map { $0.object?["properties"]?.object?["name"]?.string }
    }

    @Test("places are found by the beginning of words, in any case and without accents")
    func search() throws {
        #expect(try names("/api?q=lag&limit=5") == ["Laguna Street", "Lagunda Bakery"])
        #expect(try names("/api?q=cafe%20zur") == ["Café Zürich"])
        #expect(try names("/api?q=%D0%BF%D0%B0%D1%80%D0%BA") == ["Парк Победы"])
        #expect(try names("/api?q=lag&limit=1") == ["Laguna Street"])
        #expect(try names("/api?q=nowhere") == [])
    }

    @Test("a feature is GeoJSON: the longitude comes first")
    func feature() throws {
        let body = String(decoding: response("/api?q=tower").body, as: UTF8.self)
        #expect(
            body.contains(#""geometry":{"coordinates":[-0.0754,51.5055],"type":"Point"}"#)
                && body.contains(#""type":"FeatureCollection""#)
        )
    }

    @Test("no question is 400, another path 404")
    func errors() {
        #expect(response("/api").status == .badRequest)
        #expect(response("/api?q=").status == .badRequest)
        #expect(response("/reverse?lat=1").status == .badRequest)
        #expect(response("/elsewhere?lat=1").status == .notFound)
    }
}
