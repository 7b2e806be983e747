import Larder
import Screens

/// The program `larder` with one more app (docs/your-own-app.md).
@main enum WeatherServer {
    @MainActor static func main() async { await LarderProgram.main(serving: [Weather.self]) }
}

/// The weather of some cities, by the API of Open-Meteo: one request for all of them.
struct Weather: ListApp {
    static let name = "weather"
    static let title = Text("Weather", ru: "Погода")
    static let list = CachedList<City>(
        of: UpstreamDescription(
            "weather",
            title: "Open-Meteo",
            url: "https://api.open-meteo.com",
            probePath: City.forecasts,
            simulation: String(decoding: PackageResources.upstream_yaml, as: UTF8.self)
        ),
        at: City.forecasts,
        fresh: .seconds(600)
    ) { (forecasts: [Forecast]) in
        guard forecasts.count == City.all.count else { throw UnusableResponse("\(forecasts.count) forecasts") }
        return zip(City.all, forecasts).map { city, forecast in
            City(id: city.id, temperatureC: forecast.current.temperature_2m, windKmh: forecast.current.wind_speed_10m)
        }
    }

    let screens: ListScreens<City>
    init(_ context: AppContext) throws { screens = try ListScreens(of: Self.self, context) }
}

/// The API's response: a forecast for each city, in their order.
struct Forecast: Decodable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Current: Decodable { let temperature_2m, wind_speed_10m: Double }
    let current: Current
}

/// A city and its weather, as it is stored and sent.
struct City: ListedItem {
    static let all = [
        (id: "helsinki", name: Text("Helsinki", ru: "Хельсинки"), latitude: 60.17, longitude: 24.94),
        (id: "kazan", name: Text("Kazan", ru: "Казань"), latitude: 55.79, longitude: 49.12),
        (id: "lisbon", name: Text("Lisbon", ru: "Лиссабон"), latitude: 38.72, longitude: -9.13),
    ]
    static let forecasts =
        "/v1/forecast?latitude=\(all.map { "\($0.latitude)" }.joined(separator: ","))"
        + "&longitude=\(all.map { "\($0.longitude)" }.joined(separator: ","))&current=temperature_2m,wind_speed_10m"

    let id: String
    let temperatureC, windKmh: Double

    var name: Text { Self.all.first { $0.id == id }?.name ?? Text(verbatim: id) }
    var summary: Text { "\(Text.number(temperatureC)) °C" }
    var facts: [Fact] { [Fact(Text("Wind", ru: "Ветер"), .number(windKmh) + Text(" km/h", ru: " км/ч"))] }
}
