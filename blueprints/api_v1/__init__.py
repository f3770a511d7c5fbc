from flask import Blueprint

v1 = Blueprint("api_v1", __name__)
