import AppInterface
import Foundation
import Freshness
import HTTPTypes
import Larder
import Screens
import Settings
import Upstream

/// The program `larder` with one more app (docs/your-own-app.md).
@main enum WeatherServer {
    @MainActor static func main() async { await LarderProgram.main(serving: [WeatherApp.self]) }
}

/// The weather of some cities, by the API of Open-Meteo: one request for all of them.
struct WeatherApp: App {
    static let name = "weather"
    static let title = Text("Weather", ru: "Погода")
    static let api = UpstreamDescription(
        "weather",
        title: "Open-Meteo",
        url: "https://api.open-meteo.com",
        probePath: City.forecasts,
        simulation: String(decoding: PackageResources.upstream_yaml, as: UTF8.self)
    )
    static let upstreams = [api]
    static let freshness = Setting(
        "freshness.weather_s",
        .seconds(0...86_400),
        default: .seconds(600),
        "freshness time of the weather"
    )
    static let settings: [any SettingDeclaration] = [freshness]

    private let upstream: Upstream
    private let forecasts: Resource
    private let clock: WallClock

    init(_ context: AppContext) throws {
        upstream = try context.upstream(Self.api)
        clock = context.clock
        forecasts = .json(
            Forecasts.self,
            "the forecasts of \(City.all.count) cities",
            at: City.forecasts,
            of: upstream,
            freshness: context.settings[Self.freshness]
        )
    }

    var routes: [Route] {
        [
            Route(.get, "/v1/weather", "weather.list", list).query(.page, "q", "refresh"),
            Route(.get, "/v1/weather/{id}", "weather.city", city).query("refresh"),
        ]
    }

    @Sendable private func list(_ request: ScreenRequest) async throws -> ScreenResponse {
        let wanted = try request.query.string("q")?.lowercased()
        let list = PagedList(positionsOf: "weather.list", filter: wanted)
        let page = try request.query.page(of: list)
        let (result, forecasts) = try await read(request)
        let rows = zip(City.all, forecasts).filter { city, _ in wanted.map(city.isNamed) ?? true }
            .map(CitiesScreen.Row.init)
        let items = Array(rows.dropFirst(page.offset).prefix(page.limit))
        return try .read(
            CitiesScreen(items: items, empty: rows.isEmpty ? .noCity : nil),
            "weather.list",
            request,
            of: result,
            now: clock.now(),
            state: rows.isEmpty ? .empty : .content,
            banner: result.provenance.offline ? .weatherOffline : nil,
            page: (Page(page, count: items.count, total: rows.count), list.cursor(at: page.offset + items.count))
        )
    }

    @Sendable private func city(_ request: ScreenRequest) async throws -> ScreenResponse {
        let id = try request.parameter("id")
        guard let index = City.all.firstIndex(where: { $0.id == id }) else { throw Problem.notFound(.noCity(id)) }
        let (result, forecasts) = try await read(request)
        return try .read(
            CityScreen(City.all[index], forecasts[index]),
            "weather.city",
            request,
            of: result,
            now: clock.now(),
            banner: result.provenance.offline ? .weatherOffline : nil
        )
    }

    private func read(_ request: ScreenRequest) async throws -> (ReadResult, [Forecast]) {
        let cachePolicy = try request.cachePolicy()
        return try await upstream.reportingFailures {
            let (result, body) = try await upstream.readBody(of: forecasts, cachePolicy)
            guard let forecasts = body.flatMap({ try? JSONDecoder().decode(Forecasts.self, from: $0) }) else {
                throw UpstreamError.notStored
            }
            return (result, forecasts.values)
        }
    }
}

// MARK: Data

struct City: Sendable {
    let id: String
    let name: Text
    let latitude, longitude: Double

    static let all = [
        City(id: "helsinki", name: Text("Helsinki", ru: "Хельсинки"), latitude: 60.17, longitude: 24.94),
        City(id: "kazan", name: Text("Kazan", ru: "Казань"), latitude: 55.79, longitude: 49.12),
        City(id: "lisbon", name: Text("Lisbon", ru: "Лиссабон"), latitude: 38.72, longitude: -9.13),
    ]

    /// Path and query of the forecasts of all cities.
    static let forecasts =
        "/v1/forecast?latitude=\(all.map { "\($0.latitude)" }.joined(separator: ","))"
        + "&longitude=\(all.map { "\($0.longitude)" }.joined(separator: ","))"
        + "&current=temperature_2m,wind_speed_10m,weather_code"

    func isNamed(_ text: String) -> Bool {
        text.isEmpty || [name.english, name.russian].contains { $0.lowercased().contains(text) }
    }
}

/// One forecast as the API sends it; members that the app does not use are left out.
struct Forecast: Decodable, Sendable {
    struct Current: Decodable, Sendable {
        let temperature, wind: Double
        let code: Int

        enum CodingKeys: String, CodingKey {
            case temperature = "temperature_2m"
            case wind = "wind_speed_10m"
            case code = "weather_code"
        }
    }

    let current: Current
}

/// The response: a forecast for each city, in their order. Another number of them is no usable response.
struct Forecasts: Decodable, Sendable {
    let values: [Forecast]

    init(from decoder: any Decoder) throws {
        values = try [Forecast](from: decoder)
        guard values.count == City.all.count else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "\(values.count) forecasts"))
        }
    }
}

// MARK: Screens

struct CitiesScreen: Encodable, Sendable {
    struct Row: Encodable, Sendable {
        let id: String
        let name: Text
        let temperatureC: Double
        let weatherText: Text
        let href: Link

        init(_ city: City, _ forecast: Forecast) {
            (id, name, temperatureC) = (city.id, city.name, forecast.current.temperature)
            weatherText = "\(forecast.current.temperature) °C, \(Text.weather(forecast.current.code))"
            href = "/v1/weather/\(city.id)"
        }
    }

    let items: [Row]
    let empty: EmptyState?
}

struct CityScreen: Encodable, Sendable {
    struct Fact: Encodable, Sendable { let title, text: Text }

    let id: String
    let name: Text
    let facts: [Fact]

    init(_ city: City, _ forecast: Forecast) {
        (id, name) = (city.id, city.name)
        let now = forecast.current
        facts = [
            Fact(title: Text("Temperature", ru: "Температура"), text: "\(now.temperature) °C"),
            Fact(title: Text("Sky", ru: "Небо"), text: .weather(now.code)),
            Fact(title: Text("Wind", ru: "Ветер"), text: Text("\(now.wind) km/h", ru: "\(now.wind) км/ч")),
        ]
    }
}

// MARK: Texts

extension Text {
    static func noCity(_ id: String) -> Text { Text("There is no city \(id).", ru: "Города \(id) нет.") }

    /// The words for a code of WMO table 4677.
    static func weather(_ code: Int) -> Text {
        switch code {
        case 0...1: Text("clear", ru: "ясно")
        case 2...3: Text("clouds", ru: "облачно")
        case 45...48: Text("fog", ru: "туман")
        case 71...77, 85...86: Text("snow", ru: "снег")
        case 95...99: Text("thunderstorm", ru: "гроза")
        default: Text("rain", ru: "дождь")
        }
    }
}

extension EmptyState {
    static let noCity = EmptyState(
        title: Text("No such city", ru: "Нет такого города"),
        text: "",
        action: .show("show_all", Text("Show all", ru: "Показать все"), "/v1/weather")
    )
}

extension Banner {
    static let weatherOffline = Banner(
        code: "offline",
        text: Text("No connection. The stored weather is shown.", ru: "Нет связи. Показана сохранённая погода."),
        dismissal: .online
    )
}
