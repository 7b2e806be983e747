import Foundation
import HTTPTypes
import JSONValues
import Screens
import TestKit
import Testing
import Upstream

@testable import Larder
@testable import weather

/// The app of docs/your-own-app.md: its declarations alone give it lists, search, stored copies and problems.
@Suite struct WeatherTests {
    private typealias Harness = AppHarness<Weather, ScriptedTransport>

    /// Runs a test against the app over an API that responds with forecasts of these temperatures.
    private func run(_ temperatures: [Double] = [-4.5, -12, 13], _ test: @Sendable (Harness) async throws -> Void)
        async throws
    {
        let body = Self.body(temperatures)
        let api = ScriptedTransport { _ in .json(body) }
        let upstream = AppUpstream(Weather.list.upstream, at: "https://api.test", api)
        try await Harness.run(Weather.self, fixture: api, upstreams: [upstream]) { try await test($0) }
    }

    private static func revision(_ list: Exchanged) throws -> Int {
        guard case .number(let revision) = list["data.revision"] else { throw Exchanged.NoText(path: "", response: "") }
        return Int(revision)
    }

    private static func body(_ temperatures: [Double]) -> String {
        let forecasts = temperatures.map {
            """
            {"current":{"temperature_2m":\($0),"wind_speed_10m":18.2,"weather_code":71}}
            """
        }
        return "[\(forecasts.joined(separator: ","))]"
    }

    @Test("HOUSE-02 an app of one file has a list with pages and search, and pages of single things, by one request")
    func screens() async throws {
        try await run { app in
            let first = try await app.get("/v1/weather?limit=2")
            #expect(first.status == 200 && first.headerFields[.age] == "0")
            #expect(first.all("name", in: "data.items") == ["Helsinki", "Kazan"] && first["data.empty"] == nil)
            #expect(
                first["data.items.0.values.temperature_c"] == -4.5 && first["data.items.0.summary_text"] == "-4.5 °C"
            )
            #expect(first["meta.page.total"] == 3 && first["meta.source"] == "upstream")
            let next = try await app.get(try first.string("links.next"))
            #expect(next.all("name", in: "data.items") == ["Lisbon"] && next["links.next"] == .null)
            let found = try await app.get("/v1/weather?q=%D0%9A%D0%B0%D0%B7", as: nil, [.acceptLanguage: "ru"])
            #expect(found.all("name", in: "data.items") == ["Казань"])
            #expect(try await app.get("/v1/weather?q=")["meta.page.total"] == 3)
            let none = try await app.get("/v1/weather?q=Oslo")
            #expect(none["meta.state"] == "empty" && none["data.empty.title"] == "Nothing found")
            let one = try await app.get("/v1/weather/helsinki")
            #expect(one.all("text", in: "data.facts") == ["18.2 km/h"] && one["data.values.temperature_c"] == -4.5)
            let unknown = try await app.get("/v1/weather/oslo")
            #expect(unknown.status == 404 && unknown["detail"] == "There is no oslo.")
            #expect(app.fixture.count == 1, "the stored response serves all of them")
        }
    }

    @Test("HOUSE-02 a change has a revision, an event, and the ids that changed since an earlier one")
    func changes() async throws {
        try await run { app in
            let first = try await app.get("/v1/weather")
            let revision = try Self.revision(first)
            #expect(first["meta.revision"] == first["data.revision"])
            app.fixture.always(response(.ok, Self.body([-4.5, -12, 13])))
            #expect(try await app.get("/v1/weather?refresh=1")["data.revision"] == first["data.revision"])
            app.fixture.always(response(.ok, Self.body([-4.5, -11, 13])))
            _ = try await app.get("/v1/weather/kazan?refresh=1")
            await app.events.published("screen-changed", containing: #""screen":"weather.list""#)
            let changed = try await app.get("/v1/weather?limit=1&since_revision=\(revision)")
            #expect(changed["data.changes.updated"] == ["kazan"] && changed["data.changes.added"] == [])
            #expect(try Self.revision(changed) > revision)
            let all = try await app.get("/v1/weather?since_revision=0")
            #expect(all["data.changes.added"] == ["helsinki", "lisbon", "kazan"], "in the order of change")
        }
    }

    @Test("HOUSE-02 its routes are in the contract of its program, and in no other")
    func contract() throws {
        let document = try AppList(AppList.standard.types + [Weather.self]).contract()
        let part = try document.part(of: "weather")
        #expect(part["paths"]?.object?.members.map(\.name) == ["/v1/weather", "/v1/weather/{id}"])
        let example = part["components"]?["examples"]?["listWeather"]?["value"]
        #expect(example?["data"]?["items"]?.array?.first?["name"] == "One")
        #expect(example?["meta"]?["screen"] == "weather.list")
        #expect(document.root["paths"]?["/v1/weather"] != nil)
        #expect(try AppList.standard.contract().root["paths"]?["/v1/weather"] == nil)
    }

    @Test("HOUSE-02 its screens are served from the stored copy while its API is away, and say so; then they are fresh")
    func offline() async throws {
        try await run { app in
            _ = try await app.get("/v1/weather")
            app.fixture.goAway()
            app.clock.advance(by: .seconds(3600))
            let kept = try await app.get("/v1/weather/lisbon", as: nil, [.acceptLanguage: "ru"])
            #expect(kept.status == 200 && kept["meta.offline"] == true && kept["meta.stale"] == true)
            #expect(kept["meta.banner.text"] == "Нет связи. Показана сохранённая копия.")
            #expect(kept.headerFields[.age] == "3600" && kept["data.name"] == "Лиссабон")
            app.fixture.always(response(.ok, Self.body([1, 2, 3])))
            let fresh = try await app.get("/v1/weather/lisbon?refresh=1")
            #expect(fresh["meta.offline"] == false && fresh["meta.banner"] == .null)
            #expect(fresh["data.values.temperature_c"] == 3.0)
        }
    }

    @Test("HOUSE-02 without a copy, for unusable responses and unknown addresses it has the problems of all apps")
    func problems() async throws {
        try await run([1, 2]) { app in
            let unusable = try await app.get("/v1/weather")
            #expect(unusable.status == 502 && unusable["code"] == "upstream-bad-response")
            #expect(try unusable.string("detail").contains("2 forecasts"))
            app.fixture.goAway()
            let away = try await app.get("/v1/weather/kazan?refresh=1")
            #expect(away["code"] == "upstream-unavailable" && away["offline"] == true)
            let parameter = try await app.get("/v1/weather?page=2")
            #expect(parameter.status == 400 && parameter["code"] == "invalid-parameter")
        }
    }
}
