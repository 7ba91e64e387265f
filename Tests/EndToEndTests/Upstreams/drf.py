"""Django REST framework: one table behind each stock paginator, and behind those that page by a Link header."""
import django
from django.conf import settings


def application(database):
    settings.configure(
        SECRET_KEY="loopback only",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF=__name__,
        INSTALLED_APPS=["rest_framework"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": database}},
        REST_FRAMEWORK={
            "UNAUTHENTICATED_USER": None,
            "DEFAULT_AUTHENTICATION_CLASSES": [],
            "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
            "DEFAULT_THROTTLE_RATES": {"anon": "20/sec"},
        },
    )
    django.setup()
    urlpatterns.extend(routes())
    from django.core.asgi import get_asgi_application

    return get_asgi_application()


urlpatterns = []


def routes():
    from django.db import models
    from django.urls import path
    from drf_link_header_pagination import LinkHeaderCursorPagination, LinkHeaderPagination
    from rest_framework import generics, pagination, serializers, throttling

    class Language(models.Model):
        alpha_3 = models.CharField(max_length=3, primary_key=True)
        name = models.TextField()
        scope = models.CharField(max_length=1)
        type = models.CharField(max_length=1)

        class Meta:
            app_label = "upstream"
            db_table = "languages"
            managed = False

    class LanguageSerializer(serializers.ModelSerializer):
        class Meta:
            model = Language
            fields = "__all__"

    def listing(paginator, **more):
        sizes = {"page_size_query_param": "page_size", "page_size": 100, "max_page_size": 1000}
        limits = {"default_limit": 100, "max_limit": 1000, "ordering": "alpha_3"}
        attributes = {
            "queryset": Language.objects.order_by("alpha_3"),
            "serializer_class": LanguageSerializer,
            "pagination_class": type(paginator.__name__, (paginator,), {**sizes, **limits}),
            **more,
        }
        return type("Languages", (generics.ListAPIView,), attributes).as_view()

    slow = {"throttle_classes": [throttling.AnonRateThrottle]}
    return [
        path("page/", listing(pagination.PageNumberPagination)),
        path("offset/", listing(pagination.LimitOffsetPagination)),
        path("cursor/", listing(pagination.CursorPagination)),
        path("link-page/", listing(LinkHeaderPagination)),
        path("link-cursor/", listing(LinkHeaderCursorPagination)),
        path("throttled/", listing(pagination.PageNumberPagination, **slow)),
    ]
